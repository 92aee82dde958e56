import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { formatRefusal } from '../../kernel/format-refusal.ts'

/** File with the list of a backup's files. It is written last. */
export const MANIFEST = 'backup.json'

/** Format of backups. A restore refuses a later one. */
export const BACKUP_FORMAT = 1

const file = z.strictObject({
  /** Relative to the backup and to the data folder, with `/`. */
  path: z.string().regex(/^(?!.*(?:^|\/)\.\.?(?:\/|$))[^/].*$/),
  bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Size, time and inode of the copied file. A later file with this stamp has the same content. */
  stamp: z.string()
})

const schema = z.strictObject({
  format: z.literal(BACKUP_FORMAT),
  /** Version of Millrace. */
  version: z.string(),
  /** ISO 8601. */
  made: z.string(),
  /** Folders of databases among the files. */
  databases: z.array(z.string()),
  /** Newest committed slot of the cluster's keyspace; null for an embedded store, whose files are in the backup. */
  keyspace: z.strictObject({ name: z.string(), head: z.int().nullable() }).nullable(),
  files: z.array(file)
})

export type BackupManifest = z.infer<typeof schema>
export type BackupFile = z.infer<typeof file>

export const manifestText = (manifest: Omit<BackupManifest, 'format'>): string =>
  `${JSON.stringify({ format: BACKUP_FORMAT, ...manifest }, null, 2)}\n`

/** Reads the manifest of a backup; null if the folder has none. Throws an Error in one line for an unusable one. */
export async function readManifest(folder: string): Promise<BackupManifest | null> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(() => null)
  if (text === null) return null
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(`${join(folder, MANIFEST)} is damaged`)
  }
  const format = (value as { format?: unknown } | null)?.format
  if (typeof format === 'number' && format > BACKUP_FORMAT)
    throw new Error(formatRefusal(`the backup ${folder}`, format, BACKUP_FORMAT))
  const reading = schema.safeParse(value)
  if (!reading.success) throw new Error(`${join(folder, MANIFEST)} is damaged`)
  return reading.data
}
