import { join } from 'node:path'
import t from 'tap'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { IS_LONG } from '../random-runs.ts'
import { faultsOf, slotOf, until } from './asking.ts'
import { makeBusyLocalnet, startLocalnetProcess } from './localnet-process.ts'
import type { ServiceProcess } from './service-process.ts'
import { judgeReceiver, WebhookReceiver, type Post } from './webhook-receiver.ts'
import { addWebhook, allDelivered, CHANNELS, webhookKey } from './webhook-run.ts'

const SLOTS = IS_LONG ? 2_000 : 300
const FLAGS = ['--localnet-slot-ms', '50']
/** A chain that makes a slot in ten seconds: deliveries come to its head in between. */
const STANDING = ['--localnet-slot-ms', '10000']
const ENVIRONMENT = { MILLRACE_ALLOW_PRIVATE_WEBHOOKS: 'true' }

/** A batch that is refused three times, and so dropped. */
const REFUSED = 5

/** Every seventh batch fails once, in three ways; one fails for good. */
const flapping = ({ index, repeats, batch }: Post, refused: Set<string>): 'accept' | 'refuse' | 'reset' => {
  if (index === REFUSED) refused.add(batch.batch_id)
  if (refused.has(batch.batch_id)) return 'refuse'
  if (repeats > 0 || index % 7 !== 3) return 'accept'
  return index % 2 === 0 ? 'reset' : 'refuse'
}

t.test(
  'a service that is killed around its POSTs: receivers have every event of the store but those announced as dropped',
  async (t) => {
    const dataDir = t.testdir()
    await makeBusyLocalnet(dataDir)
    const start = (flags = FLAGS) => startLocalnetProcess(t, dataDir, flags, ENVIRONMENT)
    let service: ServiceProcess = await start()
    const refused = new Set<string>()
    let isFlapping = true
    const [steady, flappy] = await Promise.all([
      WebhookReceiver.start(t),
      WebhookReceiver.start(t, (post) => (isFlapping ? flapping(post, refused) : 'accept'))
    ])
    const key = await webhookKey(service)
    const ids = [await addWebhook(service, key, steady), await addWebhook(service, key, flappy)]

    let killed = Promise.withResolvers<void>()
    const kill = async (): Promise<void> => {
      steady.hooks = {}
      await service.end('SIGKILL')
      killed.resolve()
    }
    /** Kills the service at a point around one of the next POSTs, and starts it again. */
    const killAt = async (arm: () => void): Promise<void> => {
      killed = Promise.withResolvers()
      arm()
      await killed.promise
      service = await start()
    }
    const isNext = (post: Post, from: number): boolean => post.index >= from + 3
    const points: [name: string, arm: (from: number) => void][] = [
      [
        'a POST was received',
        (from) => (steady.hooks = { received: async (post) => void (isNext(post, from) && (await kill())) })
      ],
      [
        'a POST was answered',
        (from) => (steady.hooks = { answered: (post) => void (isNext(post, from) && void kill()) })
      ],
      [
        'between two POSTs',
        (from) =>
          (steady.hooks = {
            answered: (post) => void (isNext(post, from) && setTimeout(() => void kill(), 120))
          })
      ]
    ]
    for (const [name, arm] of points) {
      await killAt(() => arm(steady.posts.length))
      t.comment(`killed when ${name}, at slot ${await slotOf(service)}`)
    }
    await until(async () => (await slotOf(service)) >= SLOTS, 'the slots')
    isFlapping = false
    t.match(await service.end('SIGTERM'), { code: 0 })
    service = await start(STANDING)
    await allDelivered([service], ids.length)
    const last = await slotOf(service)
    t.strictSame(
      faultsOf(service).filter((line) => !line.includes('MILLRACE_ALLOW_PRIVATE_WEBHOOKS')),
      []
    )
    t.match(await service.end('SIGTERM'), { code: 0 })
    const storage = await openEmbeddedStorage({ directory: join(dataDir, 'store') })
    t.teardown(() => storage.close())
    for (const [n, receiver] of [steady, flappy].entries())
      await judgeReceiver(t, receiver, { storage, id: ids[n]! }, CHANNELS, last)
    t.ok(
      steady.posts.some(({ repeats }) => repeats > 0),
      'a batch was repeated with its id'
    )
    t.equal(refused.size, 1)
  }
)
