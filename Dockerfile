# A Docker Space of Hugging Face, or any machine: docker build -t attention . && docker run --rm -p 7860:7860 attention
ARG BASE=python:3.12-slim
FROM ${BASE}

# Spaces run everything as user 1000.
RUN useradd --create-home --uid 1000 visitor
WORKDIR /home/visitor/app

# PyTorch without CUDA first: the one on PyPI brings several GB along.
COPY requirements.txt ./
RUN python3 -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --index-url https://download.pytorch.org/whl/cpu torch==2.13.0 \
    && /opt/venv/bin/pip install --no-cache-dir -r requirements.txt
ENV PATH=/opt/venv/bin:$PATH

# What Python compiles is compiled here, as nothing can be written later; the app reads its files and writes none.
COPY . .
RUN python3 -m compileall -q .
ENV PYTHONDONTWRITEBYTECODE=1

USER visitor
ENV PORT=7860
EXPOSE 7860
HEALTHCHECK --start-period=60s CMD python3 -c "import os, urllib.request as u; u.urlopen('http://localhost:' + os.environ['PORT'] + '/_stcore/health', timeout=5)"
CMD ["sh", "-c", "exec python3 -m streamlit run app.py --server.address=0.0.0.0 --server.port=${PORT:-7860} --server.headless=true"]
