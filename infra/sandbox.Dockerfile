# Runs programs of experiments where ASSAY_EXPERIMENTS__CONTAINER_RUNTIME says so. Assay is not in it:
#   podman build -t assay-sandbox -f infra/sandbox.Dockerfile .
FROM python:3.11-slim
COPY infra/constraints.txt /tmp/constraints.txt
RUN pip install --no-cache-dir -c /tmp/constraints.txt numpy scipy scikit-learn
