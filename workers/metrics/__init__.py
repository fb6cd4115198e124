"""What Prometheus is told: what processes count (`metrics`), where they keep it (`folder`), and what one exporter reads
from the ledger (`ledger_figures`)."""
