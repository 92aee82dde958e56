import { z } from 'zod'

const REPORT = z.object({
  userLimits: z.object({ open_files: z.object({ soft: z.union([z.number(), z.literal('unlimited')]) }) })
})

/** Returns the limit of open files and sockets of this process; Infinity if unlimited. */
export function openFilesMax(): number {
  // The report would otherwise resolve the names of all peers, which blocks the process.
  Object.assign(process.report, { excludeNetwork: true })
  const { data } = REPORT.safeParse(process.report.getReport())
  const soft = data?.userLimits.open_files.soft ?? 'unlimited'
  return soft === 'unlimited' ? Infinity : soft
}
