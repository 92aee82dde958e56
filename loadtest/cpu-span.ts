import type { MeasuredProcess } from './measured-process.ts'

/** A process whose processor time can be read. */
export type TimedProcess = Pick<MeasuredProcess, 'cpuMs'>

/** Processor time of some processes over a span, which begins when this is made. */
export class CpuSpan<Name extends string> {
  readonly #processes: Readonly<Record<Name, TimedProcess>>
  readonly #before: Readonly<Record<Name, number>>
  readonly #startMs = performance.now()

  constructor(processes: Readonly<Record<Name, TimedProcess>>) {
    this.#processes = processes
    this.#before = this.#cpuMs()
  }

  get seconds(): number {
    return (performance.now() - this.#startMs) / 1_000
  }

  /** Returns the milliseconds of processor time a second since the start of the span, by process. */
  end(): Record<Name, number> {
    const after = this.#cpuMs()
    const { seconds } = this
    const names = Object.keys(after) as Name[]
    return Object.fromEntries(
      names.map((name) => [name, (after[name] - this.#before[name]) / seconds])
    ) as Record<Name, number>
  }

  #cpuMs(): Record<Name, number> {
    const names = Object.keys(this.#processes) as Name[]
    return Object.fromEntries(names.map((name) => [name, this.#processes[name].cpuMs()])) as Record<
      Name,
      number
    >
  }
}
