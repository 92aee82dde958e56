import type { Test } from 'tap'

/** Reports that a test was not run, and fails it if CI is set. */
export function notRun(t: Test, name: string, why: string): void {
  const missing = `NOT RUN, ${why}: ${name}`
  process.stderr.write(`${missing}\n`)
  if (process.env.CI) t.fail(missing)
  else void t.test(missing, { skip: 'NOT RUN' }, () => undefined)
}
