"""One widget and one line of text, with torch imported: what a change costs in Streamlit itself."""

import streamlit as st
import torch

heads = st.segmented_control("Decoder heads", (8, 16), default=8, required=True)
st.markdown(f"{heads} heads, torch {torch.__version__}")
