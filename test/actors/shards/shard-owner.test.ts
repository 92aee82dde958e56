import t from 'tap'
import { ShardOwner, type OwnedShard } from '../../../actors/shards/shard-owner.ts'
import { systemPorts } from '../../../src/ports.ts'
import { MemoryDocuments } from '../webhooks/memory-documents.ts'

t.test('a process that drains lists no further shard, and stops those that it has', async (t) => {
  const listed: string[] = []
  const stopped: string[] = []
  const listing = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  const owner = new ShardOwner<OwnedShard>({
    product: 'things',
    work: 'works',
    shards: new Map(['a', 'b', 'c'].map((name) => [name, name])),
    leases: null,
    presence: null,
    hints: null,
    make: (name, claim) => ({
      name,
      claim,
      sync: () => {
        listed.push(name)
        listing.resolve()
        return answer.promise
      },
      stop: async () => void stopped.push(name)
    }),
    documents: new MemoryDocuments(),
    isShared: false,
    clock: systemPorts.clock,
    logger: { info: () => undefined, warn: () => undefined }
  })
  const draining = new AbortController()
  const run = owner.run(draining.signal, new AbortController().signal)
  await listing.promise
  draining.abort()
  answer.resolve()
  await run
  t.same(listed, ['a'])
  t.same(stopped, ['a', 'b', 'c'])
})
