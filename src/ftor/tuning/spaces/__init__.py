"""The search spaces of the paper, one TOML file each; `ftor.tuning.space` says what they apply to."""
