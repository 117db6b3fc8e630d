"""Languages of ideas and questions: recognition, and translation into English."""
