import fc from 'fast-check'
import t from 'tap'
import { DESCRIPTION_MAX, fetchedUrl, readOffChainFields } from '../../src/accounts/off-chain-fields.ts'
import { randomRuns } from '../random-runs.ts'

const read = (json: unknown) => readOffChainFields(JSON.stringify(json))
const NONE = { image: null, description: null, website: null, twitter: null, telegram: null, discord: null }

t.test(
  'image, description and links are read from where launchpads and lists of tokens write them',
  async (t) => {
    const links = { twitter: 'https://x.com/a', telegram: 'https://t.me/a' }
    t.strictSame(
      read({
        name: 'A',
        image: 'ipfs://Qm/1.png',
        description: 'Text',
        website: 'https://a.example',
        ...links
      }),
      {
        kind: 'read',
        fields: {
          ...NONE,
          image: 'ipfs://Qm/1.png',
          description: 'Text',
          website: 'https://a.example',
          ...links
        }
      }
    )
    t.match(
      read({
        external_url: 'https://b.example',
        extensions: { discord: 'https://discord.gg/a', twitter: 5 }
      }),
      {
        fields: { website: 'https://b.example', discord: 'https://discord.gg/a', twitter: null }
      }
    )
  }
)

t.test('a value of another type or form is null, and others beside it are read', async (t) => {
  for (const image of [
    5,
    null,
    {},
    '',
    'a.png',
    'data:image/png;base64,AA',
    'javascript:alert(1)',
    'file:///etc/passwd'
  ])
    t.strictSame(read({ image, description: 'Text' }), {
      kind: 'read',
      fields: { ...NONE, description: 'Text' }
    })
  t.strictSame(
    read({ image: `https://a.example/${'x'.repeat(2_048)}`, twitter: '@a', website: 'https://a b' }),
    {
      kind: 'read',
      fields: NONE
    }
  )
  const long = '🐶'.repeat(DESCRIPTION_MAX + 5)
  t.match(read({ description: long }), { fields: { description: '🐶'.repeat(DESCRIPTION_MAX) } })
})

t.test('a text that is no JSON, or no object, is named', async (t) => {
  for (const text of ['', '<html></html>', '{"image":', 'undefined'])
    t.strictSame(readOffChainFields(text), { kind: 'failed', error: 'not_json' })
  for (const json of [null, 5, 'text', [{ image: 'https://a.example' }]])
    t.strictSame(read(json), { kind: 'failed', error: 'not_an_object' })
})

// INVARIANTS 9
t.test('any text has an outcome, whose fields are of their form', async (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), fc.webUrl(), (text, url) => {
      const reading = readOffChainFields(text)
      if (reading.kind === 'read')
        for (const each of Object.values({ ...reading.fields }))
          t.ok(each === null || typeof each === 'string')
      t.match(read({ image: url, website: url }), { fields: { image: url, website: url } })
    }),
    randomRuns(200, 3)
  )
})

t.test('ipfs is fetched by the gateway, other URIs as they are', async (t) => {
  t.equal(fetchedUrl('ipfs://Qm/1.json', 'https://gate.example/'), 'https://gate.example/ipfs/Qm/1.json')
  t.equal(fetchedUrl('ipfs://ipfs/Qm', 'https://gate.example'), 'https://gate.example/ipfs/Qm')
  t.equal(fetchedUrl('https://a.example/ipfs/Qm', 'https://gate.example'), 'https://a.example/ipfs/Qm')
})
