import type { FastifyPluginAsync } from 'fastify'
import { STORAGE, storageBody } from '../../api/storage.ts'
import { storageReport } from '../../../storage/report/storage-report.ts'
import type { AppDeps } from '../deps.ts'
import { endpoint, serve } from '../endpoint.ts'

export const storageUse = endpoint({
  path: '/v1/admin/storage',
  tag: 'Administration',
  summary: 'What takes how many bytes, and until when there is room',
  description:
    'The bytes of each kind of rows, how far back they reach, how they grow, and until when the disk lasts at that rate. All of it is estimated: of the embedded store from its files, of a cluster from what its nodes estimate of one replica before compression, some minutes old.',
  scope: 'admin',
  answer: STORAGE,
  examples: [{ name: 'every kind of rows' }]
})

export const adminStorageRoutes: FastifyPluginAsync<Pick<AppDeps, 'storage' | 'clock'>> = async (
  app,
  { storage, clock }
) => {
  serve(app, storageUse, async () => storageBody(await storageReport(storage), clock.now()))
}
