"""The same scenario in fairwave and in another implementation, and whether both agree."""
