import type { Test } from 'tap'

/** Reports that a test was not run, and fails it if CI is set: a server is missing, and can be installed. */
export function notRun(t: Test, name: string, why: string): void {
  if (!process.env.CI) return notShown(t, name, why)
  const missing = missingOf(name, why)
  process.stderr.write(`${missing}\n`)
  t.fail(missing)
}

/**
 * Reports that a test proved nothing, because the machine was too busy, or lacks a tool that a machine need not have. Unlike
 * a missing server, this does not fail in CI.
 */
export function notShown(t: Test, name: string, why: string): void {
  const missing = missingOf(name, why)
  process.stderr.write(`${missing}\n`)
  void t.test(missing, { skip: 'NOT RUN' }, () => undefined)
}

const missingOf = (name: string, why: string): string => `NOT RUN, ${why}: ${name}`
