"""Where batches are sent: one module for each way of speaking to a provider."""
