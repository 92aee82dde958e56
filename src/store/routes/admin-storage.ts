import type { FastifyPluginAsync } from 'fastify'
import { STORAGE, storageBody } from '../bodies/storage.ts'
import { storageReport } from '../../../storage/report/storage-report.ts'
import type { HttpKernel } from '../../kernel/http/http-kernel.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'

export const storageUse = endpoint({
  path: '/v1/admin/storage',
  tag: 'Administration',
  summary: 'Disk use, and the forecast when the disk is full',
  description:
    'Size, oldest row and growth of each kind of rows, and the time at which the disk will be full at that rate. All figures are estimates. For the embedded store they come from its files. For a cluster they come from its nodes: one replica, before compression, a few minutes old. `large_partitions` names partitions above 100 MB: from `system_views.max_partition_size` of Cassandra, or from `system.large_partitions` of ScyllaDB, which records them from its own threshold on (1,000 MB by default).',
  scope: 'admin',
  answer: STORAGE,
  examples: [{ name: 'every kind of rows' }]
})

export const adminStorageRoutes: FastifyPluginAsync<Pick<HttpKernel, 'storage' | 'clock'>> = async (
  app,
  { storage, clock }
) => {
  serve(app, storageUse, async () => storageBody(await storageReport(storage), clock.now()))
}
