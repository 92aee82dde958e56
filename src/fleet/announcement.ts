import { z } from 'zod'
import { INDEX_STATES } from '../data/index-place.ts'
import { ROLES } from './work.ts'

/** Maximum characters of an announcement that is read: ten times that of a process with every shard. */
const TEXT_MAX = 32 * 1024

/** The state that a process announces to the others of its service. */
const ANNOUNCEMENT = z.object({
  /** Host and process id, for people. */
  name: z.string(),
  roles: z.array(z.enum(ROLES)),
  /** Listed products that it serves as a gateway; null from a version without the list. */
  products: z.array(z.string()).nullable().default(null),
  /** Names of the work that the process does for requests to others. */
  works: z.array(z.string()),
  version: z.string(),
  startedAtMs: z.number(),
  /** Values of the settings that must agree, by the name of the variable; secrets as keyed hashes. */
  settings: z.record(z.string(), z.string()),
  /** The newest slot that the process has published; null before the first block. */
  slot: z.number().nullable(),
  /** Names of the shards that the process owns, by product. Ingest has one, `ingest`. */
  shards: z.record(z.string(), z.array(z.string())),
  /** Whether the process was asked to stop. */
  isDraining: z.boolean(),
  /** The state of names and rankings of all mints in the process; `none` from a version that does not say. */
  index: z.enum(INDEX_STATES).default('none')
})

export type Announcement = z.infer<typeof ANNOUNCEMENT>

export const announcementText = (announcement: Announcement): string => JSON.stringify(announcement)

/** Returns the announcement of a text; null for a text that no version of this service writes. */
export function announcementIn(text: string): Announcement | null {
  if (text.length > TEXT_MAX) return null
  try {
    return ANNOUNCEMENT.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
