"""What is worked on unit by unit and published whole: declared by a `Kind`, landed and published
here.
"""
