import { z } from 'zod'
import { PROBLEM_REASONS } from '../../recorded/problems.ts'
import type { RecordedReport } from '../../recorded/report.ts'
import { count, text } from '../../kernel/http/schema.ts'

const PROBLEM = z.object({
  reason: z.enum(PROBLEM_REASONS).describe('Kind of problem'),
  file: text('Path of the file below the folder'),
  line: count('Line of the file').nullable().describe('1-based line of an ndjson file; null for other files'),
  detail: text('The problem, in one line')
})

export const RECORDED_FOLDER = z
  .object({
    directory: text('The folder').nullable().describe('The folder; null if this process reads no folder'),
    state: z
      .enum(['none', 'scanning', 'indexed', 'empty', 'not-a-directory'])
      .describe(
        '`scanning`: the folder is being indexed, and counts grow; `empty`: it holds nothing that can be served'
      ),
    files: count('Files in it').nullable(),
    slots: count('Slots with a record that can be served').nullable(),
    first_slot: count('The first of these slots').nullable(),
    last_slot: count('The last of these slots').nullable(),
    repeated: count('Records that repeat a block or transaction').nullable(),
    chain: z
      .enum(['empty', 'same', 'unknown', 'other'])
      .nullable()
      .describe(
        'Result of comparing the folder with the store. `empty`: the store was empty; `same`: the store had blocks of the folder; `unknown`: nothing contradicts the folder, so it is read; `other`: the folder is of another chain and is not read. Null before the comparison'
      ),
    chain_detail: text('The evidence, in one line').nullable(),
    slots_not_read: count(
      'Slots of the folder at or below the stored head at the time of reading'
    ).nullable(),
    problems: count('Files, records and transactions that are left out'),
    problems_by_reason: z
      .record(z.string(), count('Number of problems'))
      .describe('Number of problems by reason'),
    data: z.array(PROBLEM).describe('The problems in the order in which they were found'),
    next_from: count('`from` of the next page').nullable().describe('Null at the end')
  })
  .meta({ id: 'RecordedFolder' })

/** Renders the state of a folder, with its problems from number `from` (counted from 0) on. */
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
