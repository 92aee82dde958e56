import type { Test } from 'tap'

/**
 * Makes a directory for a test that is removed after all teardowns, later ones too. node-tap removes one of `testdir` before
 * them unless a teardown was there first, while a service that they end still writes to it.
 */
export function ownDirectory(t: Test): string {
  t.teardown(() => undefined)
  return t.testdir()
}
