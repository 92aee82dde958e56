import { z } from 'zod'

const REPORT = z.object({
  userLimits: z.object({ open_files: z.object({ soft: z.union([z.number(), z.literal('unlimited')]) }) })
})

/** The number of files and sockets that this process may have open; Infinity where the system states no limit. */
export function openFilesMax(): number {
  // Else the report resolves the names of all peers, which blocks the process.
  Object.assign(process.report, { excludeNetwork: true })
  const { data } = REPORT.safeParse(process.report.getReport())
  const soft = data?.userLimits.open_files.soft ?? 'unlimited'
  return soft === 'unlimited' ? Infinity : soft
}
