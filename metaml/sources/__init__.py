"""Where data sets come from: inside scikit-learn, a folder, OpenML."""
