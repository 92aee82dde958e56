import type { RequestListener } from 'node:http'
import t, { type Test } from 'tap'
import {
  IMAGE_FRESH_MS,
  IMAGE_RETRY_MS,
  IMAGE_WAIT_MS,
  IMAGES_WAITING_MAX,
  TokenImageCache
} from '../../../actors/accounts/token-image-cache.ts'
import {
  IMAGE_BYTES_MAX,
  IMAGE_MS,
  IMAGE_PIXELS_MAX,
  tokenImageFetch
} from '../../../actors/accounts/token-image-fetch.ts'
import type { ImageReading } from '../../../src/accounts/ports.ts'
import { systemPorts } from '../../../src/ports.ts'
import { UrlGuard } from '../../../src/webhooks/url-guard.ts'
import { IMAGES, PIXEL } from '../../accounts/image-bytes.ts'
import { settle, virtualClock } from '../../virtual-time.ts'
import { startReceiver } from '../webhooks/receiver.ts'

const png = IMAGES['image/png']!

/** Fetches the answer of a server on loopback. */
async function fetched(
  t: Test,
  answer: RequestListener,
  { clock = systemPorts.clock, path = '/1.png', allowPrivate = true } = {}
): Promise<{ reading: ImageReading; paths: string[] }> {
  const receiver = await startReceiver(t, answer)
  const origin = `http://127.0.0.1:${receiver.port}`
  const fetch = tokenImageFetch({ guard: new UrlGuard({ allowPrivate }), clock, ipfsGateway: origin })
  const reading = await fetch(path.startsWith('/') ? origin + path : path, new AbortController().signal)
  return { reading, paths: receiver.received.map(({ url }) => url) }
}

const send =
  (bytes: Buffer, type = 'text/html'): RequestListener =>
  (_, response) =>
    response.setHeader('content-type', type).end(bytes)

t.test('an image has the type of its bytes, whatever its server states', async (t) => {
  t.strictSame((await fetched(t, send(PIXEL))).reading, {
    kind: 'read',
    image: { mediaType: 'image/png', bytes: PIXEL }
  })
  const { reading, paths } = await fetched(t, send(PIXEL), { path: 'ipfs://Qm1/2.png' })
  t.match(reading, { kind: 'read' })
  t.same(paths, ['/ipfs/Qm1/2.png'])
})

t.test('what is no image, is too large or has too many pixels is refused', async (t) => {
  const failed = (error: string) => ({ kind: 'failed', error })
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
  t.strictSame((await fetched(t, send(svg, 'image/svg+xml'))).reading, failed('not_an_image'))
  t.match((await fetched(t, send(png(IMAGE_PIXELS_MAX, 1)))).reading, { kind: 'read' })
  t.strictSame((await fetched(t, send(png(IMAGE_PIXELS_MAX + 1, 1)))).reading, failed('not_an_image'))
  t.strictSame((await fetched(t, send(png(1, IMAGE_PIXELS_MAX + 1)))).reading, failed('not_an_image'))
  const padded = (length: number): Buffer => Buffer.concat([PIXEL, Buffer.alloc(length - PIXEL.length)])
  t.match((await fetched(t, send(padded(IMAGE_BYTES_MAX)))).reading, { kind: 'read' })
  t.strictSame((await fetched(t, send(padded(IMAGE_BYTES_MAX + 1)))).reading, failed('too_large'))
})

t.test('a private address and a slow host give no image', async (t) => {
  let reached = 0
  const inside: RequestListener = (_, response) => {
    reached++
    response.end(PIXEL)
  }
  t.match((await fetched(t, inside, { allowPrivate: false })).reading, { error: 'url_not_allowed' })
  t.equal(reached, 0)
  const clock = virtualClock()
  const slow: RequestListener = (_, response) => {
    response.writeHead(200).write(PIXEL.subarray(0, 10))
    void settle().then(() => clock.increment(IMAGE_MS))
  }
  t.match((await fetched(t, slow, { clock })).reading, { error: 'timeout' })
})

const READ: ImageReading = { kind: 'read', image: { mediaType: 'image/png', bytes: PIXEL } }

function start(bytesMax = 2 ** 20) {
  const clock = virtualClock()
  const requested: string[] = []
  const answers: ((reading: ImageReading) => void)[] = []
  const cache = new TokenImageCache({
    ...{ clock, bytesMax },
    fetch: (url, signal) => {
      requested.push(url)
      return new Promise((resolve, reject) => {
        answers.push(resolve)
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      })
    }
  })
  return { cache, clock, requested, answers }
}

const URL_A = 'https://a.example/1.png'

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await settle()
}

t.test('an image is fetched once for all that wait, and cached for a day', async (t) => {
  const { cache, clock, requested, answers } = start()
  const all = [1, 2, 3].map(() => cache.read(URL_A))
  await turns()
  answers[0]!(READ)
  t.strictSame(await Promise.all(all), [READ, READ, READ])
  clock.increment(IMAGE_FRESH_MS - 1)
  t.strictSame(await cache.read(URL_A), READ)
  t.equal(requested.length, 1)
  t.ok(cache.bytes >= PIXEL.length)
  clock.increment(1)
  void cache.read(URL_A)
  await turns()
  t.equal(requested.length, 2)
  await cache.close()
})

t.test('an answer waits for a slow image to a limit, and the fetch goes on', async (t) => {
  const { cache, clock, answers } = start()
  const first = cache.read(URL_A)
  await turns()
  clock.increment(IMAGE_WAIT_MS)
  t.same(await first, { kind: 'pending' })
  answers[0]!(READ)
  await turns()
  t.strictSame(await cache.read(URL_A), READ)
  await cache.close()
})

t.test('a failure is cached briefly', async (t) => {
  const { cache, clock, requested, answers } = start()
  const first = cache.read(URL_A)
  await turns()
  answers[0]!({ kind: 'failed', error: 'status' })
  t.match(await first, { error: 'status' })
  t.match(await cache.read(URL_A), { error: 'status' })
  t.equal(cache.failed, 1)
  clock.increment(IMAGE_RETRY_MS)
  const again = cache.read(URL_A)
  await turns()
  answers[1]!(READ)
  t.strictSame(await again, READ)
  t.equal(requested.length, 2)
  await cache.close()
})

t.test('beyond the number that may wait, images stay pending and are counted', async (t) => {
  const { cache } = start()
  const waiting = Array.from({ length: IMAGES_WAITING_MAX }, (_, at) => cache.read(`https://h${at}.example/`))
  await turns()
  t.same(await cache.read('https://further.example/'), { kind: 'pending' })
  t.equal(cache.dropped, 1)
  await cache.close()
  t.ok(
    (await Promise.all(waiting)).every(({ kind }) => kind === 'pending'),
    'the end of the process ends all'
  )
  t.same(await cache.read(URL_A), { kind: 'pending' }, 'nothing is fetched after it')
})
