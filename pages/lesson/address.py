"""What only this page has in the address."""

from pages.lesson.show_of_hands import CLASS
from pages.shared.locked import LOCK, SHOW
from pages.shared.parameters import Whole

LESSON = Whole("lesson", 1, low=1, high=9)  # the step that is shown
QUIZ = Whole("quiz", low=0, high=9999)  # the number that the quiz is made from; None: it is not begun
PARAMETERS = (LESSON, QUIZ, CLASS, LOCK, SHOW)
