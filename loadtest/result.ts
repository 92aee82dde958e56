import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'

const RESULTS = join(import.meta.dirname, 'results')

/** Saves figures with machine and commit as `results/NAME.json`, and prints them. */
export async function writeResult(name: string, figures: Readonly<Record<string, unknown>>): Promise<void> {
  const [cpu] = cpus()
  const result = {
    benchmark: name,
    at: new Date().toISOString().slice(0, 10),
    commit:
      git('rev-parse', '--short', 'HEAD') +
      (git('status', '--porcelain', '--', 'src', 'actors', 'machines', 'storage', 'package-lock.json') === ''
        ? ''
        : ' with changes'),
    machine: {
      cpu: cpu?.model ?? 'unknown',
      cores: cpus().length,
      memory_gib: Math.round(totalmem() / 2 ** 30)
    },
    node: process.version,
    command: `node loadtest/${name}.ts`,
    ...figures
  }
  mkdirSync(RESULTS, { recursive: true })
  const text = JSON.stringify(result, shortened, 2)
  writeFileSync(join(RESULTS, `${name}.json`), `${text}\n`)
  process.stdout.write(`${text}\n`)
}

/**
 * Prints a figure as one line when it is measured, and returns it. So a program that fails later has printed what it had
 * measured.
 */
export function reported<T>(name: string, figure: T): T {
  process.stderr.write(`${JSON.stringify({ [name]: figure }, shortened)}\n`)
  return figure
}

/** Reads some fields of an earlier saved result, for a program that measures one of them at a time. */
export function readResult(name: string, fields: readonly string[]): Readonly<Record<string, unknown>> {
  const file = join(RESULTS, `${name}.json`)
  if (!existsSync(file)) return {}
  const saved = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  return Object.fromEntries(Object.entries(saved).filter(([field]) => fields.includes(field)))
}

/** Returns numbers with four digits, for JSON.stringify. */
function shortened(_key: string, value: unknown): unknown {
  return typeof value !== 'number' || Number.isInteger(value) ? value : Number(value.toPrecision(4))
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim()
}
