"""Metrics in Prometheus' text format."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from keyfold_web.metrics import MetricRegistry


def test_counters_and_histograms_are_written_as_prometheus_reads_them() -> None:
    registry = MetricRegistry()
    asked = registry.counter("asked_total", "Questions.", ["who"])
    asked.add(2, "mia")
    asked.add(0.5, 'a"b\\c\nd')
    seconds = registry.histogram("seconds", "Time.")
    for value in (0.0001, 0.003, 0.003, 99.0):
        seconds.observe(value)
    text = registry.text()
    assert "# TYPE asked_total counter" in text
    assert 'asked_total{who="mia"} 2\n' in text
    assert 'asked_total{who="a\\"b\\\\c\\nd"} 0.5\n' in text
    assert 'seconds_bucket{le="0.0005"} 1\n' in text
    assert 'seconds_bucket{le="0.005"} 3\n' in text
    assert 'seconds_bucket{le="10"} 3\n' in text
    assert 'seconds_bucket{le="+Inf"} 4\n' in text
    assert "seconds_count 4\n" in text


def test_workers_that_share_a_folder_are_summed_even_when_they_are_gone(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from keyfold_web.metrics import MetricRegistry\n"
        "registry = MetricRegistry(Path(sys.argv[1]))\n"
        "registry.counter('asked_total', 'Questions.', ['who']).add(3, 'mia')"
    )
    for _ in range(2):
        subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
    registry = MetricRegistry(tmp_path)
    registry.counter("asked_total", "Questions.", ["who"]).add(1, "mia")
    assert 'asked_total{who="mia"} 7\n' in registry.text()
