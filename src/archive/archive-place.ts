import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'
import { Documents, type Stored } from '../../storage/documents.ts'
import type { Storage } from '../../storage/port.ts'
import type { Config } from '../kernel/config/config.ts'
import { ServiceError } from '../kernel/errors.ts'

/**
 * The state of a keyspace, one of the two that an archive may have. The archive is the keyspace with the greatest
 * generation. A keyspace without this record has generation 0 if it has the archive's name, and is not an archive otherwise.
 */
const STANDING = defineDocument({
  kind: 'archive standing',
  schema: z.object({
    /** `filling`: it lacks blocks of the archive. */
    state: z.enum(['filling', 'whole']),
    generation: z.number(),
    /** Unix milliseconds. */
    sinceMs: z.number(),
    /** Whether another keyspace has become the archive. Informs processes that have this one open. */
    isReplaced: z.boolean()
  }),
  partition: () => 'archive',
  key: () => ['standing']
})
export type ArchiveKeyspaceStanding = z.infer<typeof STANDING.schema>

/** The store of an archive, and how often it was replaced before; 0 for an embedded store. */
export interface ArchivePlace {
  readonly config: Config
  readonly generation: number
}

/** Access to the stores of an archive. */
export interface ArchiveAccess {
  readonly isThere: (config: Config) => Promise<boolean>
  /** Opens a store to read. */
  readonly open: (config: Config) => Promise<Storage>
}

/**
 * Returns the configurations of both keyspaces of an archive. Their names have equal lengths, within the limit for a
 * keyspace's name.
 */
export function archiveKeyspaces(archive: Config): readonly [Config, Config] {
  return [archive, { ...archive, scyllaKeyspace: archive.scyllaKeyspace.replace(/_archive$/, '_archiv2') }]
}

/** Finds the keyspace that is the archive. `archive` is the configuration with the archive's name. */
export async function archivePlace(archive: Config, { isThere, open }: ArchiveAccess): Promise<ArchivePlace> {
  const [first, second] = archiveKeyspaces(archive)
  const standingOf = async (config: Config): Promise<ArchiveKeyspaceStanding | null> => {
    if (!(await isThere(config))) return null
    const storage = await open(config)
    try {
      return await readStanding(storage)
    } finally {
      await storage.close()
    }
  }
  const generationOf = (standing: ArchiveKeyspaceStanding | null): number =>
    standing?.state === 'whole' ? standing.generation : 0
  const [ofFirst, ofSecond] = [generationOf(await standingOf(first)), generationOf(await standingOf(second))]
  return ofSecond > ofFirst
    ? { config: second, generation: ofSecond }
    : { config: first, generation: ofFirst }
}

/** Reads the standing of a keyspace; null if not recorded. */
export async function readStanding(storage: Storage): Promise<ArchiveKeyspaceStanding | null> {
  return (await stored(storage))?.value ?? null
}

/** Reads the archive's generation recorded in the keyspace of a storage. */
export async function archiveGeneration(storage: Storage): Promise<number> {
  const standing = await readStanding(storage)
  return (standing?.generation ?? 0) + (standing?.isReplaced === true ? 1 : 0)
}

/** Records the standing of a keyspace. Resolves once it is durable. */
export async function recordStanding(storage: Storage, standing: ArchiveKeyspaceStanding): Promise<void> {
  const before = await stored(storage)
  const documents = new Documents(storage.documents, STANDING)
  const { ok } = await (before === null ? documents.insert(standing) : documents.update(before, standing))
  if (!ok)
    throw new ServiceError('STORAGE_UNAVAILABLE', 'another import changes the archive; wait until it ends')
}

const stored = (storage: Storage): Promise<Stored<ArchiveKeyspaceStanding> | null> =>
  new Documents(storage.documents, STANDING).get('archive', ['standing'])
