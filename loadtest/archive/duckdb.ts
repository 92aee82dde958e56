import { spawnSync } from 'node:child_process'

/** Loads a Parquet file into a table of DuckDB (of the Python in `PYTHON`); a reason if that is not possible. */
export function duckDb(path: string, place: string, rows: number): unknown {
  const program = `
import duckdb, json, os, resource, time
started = time.perf_counter()
connection = duckdb.connect(${JSON.stringify(place)})
connection.execute("set enable_progress_bar = false")
connection.execute("create table trades as select * from read_parquet('${path}')")
connection.execute("checkpoint")
seconds = time.perf_counter() - started
used = resource.getrusage(resource.RUSAGE_SELF)
connection.close()
rows = ${rows}
print(json.dumps({
  "version": duckdb.__version__,
  "seconds": seconds,
  "cpu_seconds_with_start": used.ru_utime + used.ru_stime,
  "rows_per_second": round(rows / seconds),
  "bytes_per_row": os.path.getsize(${JSON.stringify(place)}) / rows
}))`
  const { status, stdout, stderr } = spawnSync(process.env.PYTHON ?? 'python3', ['-c', program], {
    encoding: 'utf8'
  })
  return status === 0 ? (JSON.parse(stdout) as unknown) : `not measured: ${stderr.trim().split('\n').at(-1)}`
}
