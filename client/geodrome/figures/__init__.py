"""All figures of Geodrome, made once: plain data in, Plotly figures out. Needs the extra ``plots``.

=====================  ==========================================================
``convergence``        costs over trials, and the best so far
``slices``             the model along geodesics through the recommended point
``manifold_views``     the trials on their manifold, and the model where it can be drawn; a figure for each factor
``views_of``           which of these a space has
``model``              lengthscales and calibration
=====================  ==========================================================
"""

from geodrome.figures.convergence import convergence
from geodrome.figures.manifold import DRAWINGS, View, manifold_views, views_of
from geodrome.figures.model import model
from geodrome.figures.slices import slices
from geodrome.figures.style import TEMPLATES, Theme

__all__ = ["DRAWINGS", "TEMPLATES", "Theme", "View", "convergence", "manifold_views", "model", "slices", "views_of"]
