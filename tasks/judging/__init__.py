"""Steps, their engines, and the parameters, prices and limits of models."""
