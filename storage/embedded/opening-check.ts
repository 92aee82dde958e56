import { ServiceError } from '../../src/kernel/errors.ts'
import { DamagedKeys } from './damaged-keys.ts'
import { isolateDamage, readKnownDamage, withStoreLock } from './engine-files/isolation.ts'
import { checkStore, holdsStore, type TrustedFiles } from './engine-files/store-check.ts'
import { readTrustedFiles } from './engine-files/trusted-files.ts'

/**
 * Verifies a store's files before the engine opens them, isolates damage, and returns the damaged keys. The engine verifies
 * no checksum when it reads, and ends the process on a block that makes no sense. `known` replaces the store's own list of
 * trusted files. Rejects with STORAGE_UNAVAILABLE if damage leaves the engine no store to open.
 */
export async function checkBeforeOpening(directory: string, known?: TrustedFiles): Promise<DamagedKeys> {
  if (!(await holdsStore(directory))) return new DamagedKeys([])
  const trusted = known ?? (await readTrustedFiles(directory))
  const { tables, fatal } = await checkStore(directory, trusted)
  if (tables.length + fatal.length > 0) {
    await withStoreLock(directory, async () => {
      // Another process may have written to them while they were read without the lock.
      const { tables, fatal } = await checkStore(directory, trusted)
      if (fatal.length > 0) throw unopenable(directory, fatal)
      if (tables.length > 0) await isolateDamage(directory, tables)
    })
  }
  return new DamagedKeys(await readKnownDamage(directory))
}

/** Returns the error of a store whose damage leaves nothing to open. */
export function unopenable(directory: string, fatal: readonly string[]): ServiceError {
  return new ServiceError(
    'STORAGE_UNAVAILABLE',
    `the store in ${directory} cannot be opened: ${fatal.join('; ')}; run \`npx millrace repair\``
  )
}
