import { readdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { keysOf } from '../codec/keys.ts'
import type { KindUsage, StorageUsage } from '../port.ts'
import { HOLDER_LISTS, PROGRAM_ACCOUNTS, ROW_KINDS, type Stay } from '../row-kinds.ts'
import type { Database } from './database.ts'
import type { HolderDatabase } from './holders.ts'
import type { ProgramAccountDatabase } from './program-accounts.ts'

interface StoreOptions {
  readonly directory: string
  readonly logSeconds?: number | null
  readonly retentionSeconds?: number | null
}

/**
 * Estimates the bytes of each kind of rows in the engine's tables. The newest rows, up to two write buffers, are only in the
 * write-ahead log, which counts as one more kind.
 */
export async function usageOf(
  database: Pick<Database, 'approximateBytes'>,
  copies: {
    readonly programAccounts: Pick<ProgramAccountDatabase, 'bytes'>
    readonly holders: Pick<HolderDatabase, 'bytes'>
  },
  { directory, logSeconds, retentionSeconds }: StoreOptions
): Promise<StorageUsage> {
  const stays: Readonly<Record<Stay, KindUsage['stays']>> = {
    always: 'always',
    needed: 'needed',
    retention: retentionSeconds ?? 'always',
    replay: logSeconds ?? 'always'
  }
  const kinds = ROW_KINDS.flatMap(({ letter, ...kind }) => (letter === null ? [] : [{ ...kind, letter }]))
  const inTables = kinds.map(async ({ letter, name, stays: stay }) => {
    const bytes = await database.approximateBytes(keysOf(letter))
    return { kind: name, bytes, stays: stays[stay] }
  })
  const usages = await Promise.all(inTables)
  try {
    const { bavail, bsize } = await statfs(directory)
    // The log mixes all kinds. It dominates a small store and is negligible later.
    const log = {
      kind: 'newest rows, not in tables yet',
      bytes: await logBytes(directory),
      stays: 'always'
    } as const
    const mirrored = {
      kind: PROGRAM_ACCOUNTS,
      bytes: await copies.programAccounts.bytes(),
      stays: 'needed'
    } as const
    const held = { kind: HOLDER_LISTS, bytes: await copies.holders.bytes(), stays: 'needed' } as const
    return { kinds: [...usages, mirrored, held, log], freeBytes: bavail * bsize, largePartitions: null }
  } catch (cause) {
    throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, `the store's directory ${directory} cannot be read`, {
      cause
    })
  }
}

/** Adds up the files of the engine's write-ahead log: the current one, and one that is being merged into tables. */
async function logBytes(directory: string): Promise<number> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.log'))
  const sizes = names.map((name) => stat(join(directory, name)).then(({ size }) => size, ofMerged))
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

/** A log that was merged meanwhile is gone. */
function ofMerged(error: NodeJS.ErrnoException): number {
  if (error.code === 'ENOENT') return 0
  throw error
}
