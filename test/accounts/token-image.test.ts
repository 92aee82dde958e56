import t, { type Test } from 'tap'
import { METAPLEX_PROGRAM, metaplexAddress } from '../../src/accounts/metaplex.ts'
import type { ImageReading, KnownOffChain } from '../../src/accounts/ports.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { contractOf } from '../http/checked-requests.ts'
import { marketApp } from '../http/market-app.ts'
import { key, metaplexData, mintData } from './account-data.ts'
import { fakeAccounts } from './fake-account-node.ts'
import { PIXEL } from './image-bytes.ts'

const FIELDS = { description: null, website: null, twitter: null, telegram: null, discord: null }
const PATH = `/v1/tokens/${pubkeyToBase58(key(1))}/image`

async function world(t: Test) {
  const state: { stated: KnownOffChain; image: ImageReading | { readonly kind: 'pending' } } = {
    stated: stating('https://example.org/a.png'),
    image: { kind: 'read', image: { mediaType: 'image/png', bytes: PIXEL } }
  }
  const requested: string[] = []
  const offChain = { read: async (uris: readonly string[]) => uris.map(() => state.stated) }
  const images = {
    read: async (url: string) => {
      requested.push(url)
      return state.image
    }
  }
  const clock = { now: () => app.nowMs, setTimeout: () => undefined, clearTimeout: () => undefined }
  const accounts = fakeAccounts(clock, offChain, images)
  const app = await marketApp(t, undefined, { accounts })
  accounts.node.put(key(1), {
    owner: TOKEN_PROGRAM_KEYS['spl-token'],
    data: mintData({ supply: 10n ** 15n, decimals: 6 })
  })
  const names = { mint: key(1), name: 'A', symbol: 'A', uri: 'https://example.org/a.json', authority: key(4) }
  accounts.node.put(metaplexAddress(key(1)), { owner: METAPLEX_PROGRAM, data: metaplexData(names) })
  return { app, state, requested }
}

const stating = (image: string | null): KnownOffChain => ({
  kind: 'read',
  readAtMs: 1,
  fields: { image, ...FIELDS }
})

t.test(
  'the image that the metadata names is answered with its bytes and type, and runs nothing',
  async (t) => {
    const { app, requested } = await world(t)
    const response = await app.app.inject({ url: PATH, headers: { 'x-api-key': app.key } })
    t.equal(response.statusCode, 200)
    t.strictSame(response.rawPayload, PIXEL)
    t.match(response.headers, {
      'content-type': 'image/png',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, max-age=3600'
    })
    t.same(requested, ['https://example.org/a.png'])
  }
)

t.test('an image that is missing, broken or still being fetched is said', async (t) => {
  const { app, state, requested } = await world(t)
  const contract = await contractOf(app)
  const refused = async (status: number, code: string, detail: RegExp): Promise<void> => {
    const answer = await app.get(PATH)
    t.match(answer, { status, body: { code, detail } })
    t.equal(contract.breach({ method: 'GET', path: PATH, ...answer }), null)
  }
  state.stated = stating(null)
  await refused(404, 'token_image_not_found', /names no image/)
  state.stated = { kind: 'failed', error: 'status', readAtMs: 1 }
  await refused(404, 'token_image_not_found', /could not be read: status/)
  state.stated = { kind: 'pending' }
  await refused(504, 'upstream_timeout', /the metadata of this token is being fetched/)
  t.same(requested, [], 'no image is fetched')
  state.stated = stating('https://a.example/')
  state.image = { kind: 'failed', error: 'not_an_image' }
  await refused(404, 'token_image_not_found', /could not be read: not_an_image/)
  state.image = { kind: 'pending' }
  await refused(504, 'upstream_timeout', /the image of this token is being fetched/)
})

t.test('an address that is no mint has no image', async (t) => {
  const { app } = await world(t)
  const { status, body } = await app.get(`/v1/tokens/${pubkeyToBase58(key(9))}/image`)
  t.match({ status, body }, { status: 404, body: { code: 'token_not_found' } })
})

t.test('without permission of the operator there are no images', async (t) => {
  const app = await marketApp(t)
  t.match(await app.get(PATH), {
    status: 501,
    body: { code: 'not_configured', detail: /MILLRACE_TOKEN_IMAGES/ }
  })
})
