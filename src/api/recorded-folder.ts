import { z } from 'zod'
import { PROBLEM_REASONS } from '../recorded/problems.ts'
import type { RecordedReport } from '../recorded/report.ts'
import { count, text } from './schema.ts'

const PROBLEM = z.object({
  reason: z.enum(PROBLEM_REASONS).describe('Why it is left out'),
  file: text('Path of the file below the folder'),
  line: count('Line of the file').nullable().describe('1-based line of an ndjson file; null of others'),
  detail: text('What is wrong, in a line')
})

export const RECORDED_FOLDER = z
  .object({
    directory: text('The folder').nullable().describe('The folder; null where this process reads none'),
    state: z
      .enum(['none', 'scanning', 'indexed', 'empty', 'not-a-directory'])
      .describe('`scanning`: it is looked through, and counts grow; `empty`: nothing in it can be served'),
    files: count('Files in it').nullable(),
    slots: count('Slots with a record that can be served').nullable(),
    first_slot: count('The first of them').nullable(),
    last_slot: count('The last of them').nullable(),
    repeated: count('Records of a block or transaction that another record gives too').nullable(),
    chain: z
      .enum(['empty', 'same', 'unknown', 'other'])
      .nullable()
      .describe(
        'How it stands to what was stored when it was read: `empty`: nothing was; `same`: blocks of it were; `unknown`: nothing contradicts it, and it is taken; `other`: it is of another chain and not taken. Null before it is read'
      ),
    chain_detail: text('How that shows, in a line').nullable(),
    slots_not_read: count(
      'Slots of it at or below the newest one that was stored when it was read'
    ).nullable(),
    problems: count('Files, records and transactions that are left out'),
    problems_by_reason: z.record(z.string(), count('How many')).describe('The same by reason'),
    data: z.array(PROBLEM).describe('Each of them, in the order in which they were found'),
    next_from: count('Ask from here for what comes after').nullable().describe('Null at the end')
  })
  .meta({ id: 'RecordedFolder' })

/** How a folder does, with its problems from one on, counted from 0. */
export function recordedFolderBody(
  { directory, problems, index, standing }: RecordedReport,
  from: number,
  limit: number
): z.input<typeof RECORDED_FOLDER> {
  const { slots } = index ?? {}
  const end = from + limit
  return {
    directory,
    state: directory === null ? 'none' : (index?.kind ?? 'scanning'),
    files: index?.files ?? null,
    slots: slots?.length ?? null,
    first_slot: slots?.[0] ?? null,
    last_slot: slots?.at(-1) ?? null,
    repeated: index?.repeated ?? null,
    chain: standing?.kind ?? null,
    chain_detail: standing?.detail ?? null,
    slots_not_read: standing === null || slots === undefined ? null : slots.length - standing.above,
    problems: problems.total,
    problems_by_reason: problems.counts,
    data: problems.listed.slice(from, end),
    next_from: end < problems.listed.length ? end : null
  }
}
