# Assets are embedded in the binary; see src/report/assets.
