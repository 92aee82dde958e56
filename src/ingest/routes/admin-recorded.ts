import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { RECORDED_FOLDER, recordedFolderBody } from '../bodies/recorded-folder.ts'
import { LISTED_MAX, LISTED_PER_REASON } from '../../recorded/problems.ts'
import { RecordedReport } from '../../recorded/report.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { wholeNumber } from '../../kernel/http/parameters.ts'

/** Maximum problems of one answer: about 200 KB of JSON. */
const PROBLEMS_MAX = 1_000

export const recordedFolder = endpoint({
  path: '/v1/admin/recorded',
  tag: 'Administration',
  summary: 'Contents of the recorded folder, and its problems',
  description: `The slots of this process's recorded folder, and whether the folder is of the stored chain. Files, records and transactions that are left out are counted by reason. The first ${LISTED_PER_REASON} of each reason are listed, at most ${PROBLEMS_MAX} per answer.`,
  scope: 'admin',
  query: z.object({
    from: wholeNumber(0, LISTED_MAX, 0).describe('The first problem to list, counted from 0')
  }),
  answer: RECORDED_FOLDER,
  answersWhileDraining: true,
  examples: [{ name: 'from the first problem on' }]
})

export const adminRecordedRoutes: FastifyPluginAsync<Pick<AppDeps, 'recorded'>> = async (
  app,
  { recorded = new RecordedReport() }
) => {
  serve(app, recordedFolder, async ({ query }) => recordedFolderBody(recorded, query.from, PROBLEMS_MAX))
}
