import t from 'tap'
import { ServiceError } from '../../src/kernel/errors.ts'
import { WEBHOOK_ERRORS } from '../../src/webhooks/errors.ts'
import { AddressRefused, HostUnresolved, nameServerLookup, UrlGuard } from '../../src/webhooks/url-guard.ts'
import { startNameServer } from './name-server.ts'

const REFUSED = new AddressRefused().message
const UNRESOLVED = new HostUnresolved().message

/** A guard whose name server knows some names. */
const guardOf = (names: Readonly<Record<string, readonly string[]>>, allowPrivate = false): UrlGuard =>
  new UrlGuard({
    allowPrivate,
    lookup: async (host) => {
      const found = names[host]
      if (found === undefined) throw Object.assign(new Error('secret detail'), { code: 'ENOTFOUND' })
      return found
    }
  })

const REFUSED_URLS = [
  'http://127.0.0.1/',
  'http://127.0.0.1:8900/v1/admin/keys',
  'http://127.1/',
  'http://127.0.1/',
  'http://0/',
  'http://0.0.0.0/',
  'http://2130706433/',
  'http://017700000001/',
  'http://0177.0.0.1/',
  'http://0x7f000001/',
  'http://0x7f.0x0.0x0.0x1/',
  'http://0x7f.1/',
  'http://127.0.0.1./',
  'http://①②⑦.⓪.⓪.①/',
  'http://127。0。0。1/',
  'http://%31%32%37.0.0.1/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://192.168.1.1/',
  'http://100.64.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://2852039166/latest/meta-data/',
  'http://0xa9fea9fe/',
  'http://0251.0376.0251.0376/',
  'http://100.100.100.200/',
  'http://168.63.129.16/',
  'http://198.18.0.1/',
  'http://192.0.2.1/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'http://[::]/',
  'http://[::1]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[::127.0.0.1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::FFFF:a9fe:a9fe]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[64:ff9b:1::a00:1]/',
  'http://[2002:7f00:1::]/',
  'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
  'http://[2001:db8::1]/',
  'http://[fc00::1]/',
  'http://[fd00:ec2::254]/',
  'http://[fe80::1]/',
  'http://[fec0::1]/',
  'http://[ff02::1]/',
  'http://localhost/',
  'http://localhost./',
  'http://LOCALHOST/',
  'http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/',
  'http://a.localhost/',
  'http://metadata.google.internal/',
  'https://intranet/',
  'https://private.example/',
  'https://mixed.example/',
  'https://mixed6.example/',
  'https://mapped.example/',
  'https://nat64.example/',
  'https://shared.example/',
  'https://strange.example/',
  'https://empty.example/',
  'https://unknown.example/',
  'https://пример.example/',
  'https://public.example:22/',
  'https://user@public.example/',
  'ftp://public.example/'
]

const NAMES = {
  localhost: ['127.0.0.1', '::1'],
  'localhost.': ['127.0.0.1'],
  'a.localhost': ['127.0.0.1'],
  'metadata.google.internal': ['169.254.169.254'],
  intranet: ['10.1.2.3'],
  'private.example': ['10.0.0.1'],
  'mixed.example': ['8.8.8.8', '8.8.4.4', '127.0.0.1'],
  'mixed6.example': ['8.8.8.8', '2606:4700::1111', 'fe80::1'],
  'mapped.example': ['::ffff:10.0.0.1'],
  'nat64.example': ['64:ff9b::808:808'],
  'shared.example': ['100.64.0.1'],
  'strange.example': ['not an address'],
  'empty.example': [],
  'xn--e1afmkfd.example': ['192.168.0.1'],
  'public.example': ['8.8.8.8', '2606:4700::1111', '8.8.8.8'],
  'public.example.': ['8.8.8.8']
}

t.test('a URL that does not lead to public addresses alone is refused', async (t) => {
  t.ok(REFUSED_URLS.length >= 60)
  const guard = guardOf(NAMES)
  for (const url of REFUSED_URLS) {
    const error = await guard.check(url).then(
      () => null,
      (error: unknown) => error
    )
    if (!(error instanceof ServiceError)) {
      t.fail(`${url} was not refused`)
      continue
    }
    t.equal(error.kind, WEBHOOK_ERRORS.URL_REFUSED, url)
    t.notMatch(error.detail, /secret|ENOTFOUND|10\.|169\.254/, 'an answer of the name server is not shown')
  }
})

t.test('a refusal is the same for a private name and for one that does not exist', async (t) => {
  const guard = guardOf(NAMES)
  const detail = async (url: string): Promise<string> =>
    guard.check(url).then(
      () => 'allowed',
      (error: ServiceError) => error.detail
    )
  t.equal(await detail('https://private.example/'), await detail('https://unknown.example/'))
})

t.test('a URL that leads to public addresses is allowed', async (t) => {
  const guard = guardOf(NAMES)
  t.match(await guard.check('https://public.example/hook?a=1'), { host: 'public.example', path: '/hook?a=1' })
  t.match(await guard.check('https://public.example./'), { host: 'public.example.' })
  t.match(await guard.check('https://8.8.8.8/'), { host: '8.8.8.8' })
  t.match(await guard.check('https://[2606:4700::1111]:8443/'), { host: '2606:4700::1111' })
})

t.test(
  'addresses of a host are its whole answer without duplicates, or an error that says why',
  async (t) => {
    const guard = guardOf(NAMES)
    t.same(await guard.addressesOf('public.example'), ['8.8.8.8', '2606:4700::1111'])
    await t.rejects(guard.addressesOf('mixed.example'), { message: REFUSED })
    await t.rejects(guard.addressesOf('127.0.0.1'), { message: REFUSED })
    await t.rejects(guard.addressesOf('unknown.example'), { message: UNRESOLVED })
    await t.rejects(guard.addressesOf('empty.example'), { message: UNRESOLVED })
  }
)

t.test('a guard for development allows private addresses, and nothing else that is refused', async (t) => {
  const guard = guardOf(NAMES, true)
  for (const url of ['http://127.0.0.1:9000/', 'http://localhost:9000/', 'http://[::1]/', 'http://intranet/'])
    await t.resolves(guard.check(url), url)
  for (const url of [
    'ftp://127.0.0.1/',
    'http://127.0.0.1:22/',
    'http://u@127.0.0.1/',
    'https://unknown.example/'
  ])
    await t.rejects(guard.check(url), { name: 'ServiceError', kind: WEBHOOK_ERRORS.URL_REFUSED }, url)
})

t.test('the system resolves localhost for development, and no name server makes it public', async (t) => {
  const addresses = await new UrlGuard({ allowPrivate: true }).addressesOf('localhost')
  t.ok(addresses.every((address) => ['127.0.0.1', '::1'].includes(address)))
})

t.test('on a localnet loopback addresses pass, and no other private ones', async (t) => {
  const guard = new UrlGuard({ allowPrivate: false, allowLoopback: true, lookup: async () => ['127.0.0.1'] })
  for (const url of [
    'http://127.0.0.1:9000/',
    'http://[::1]:9000/',
    'http://localhost:9000/a',
    'http://a.localhost/'
  ])
    await t.resolves(guard.check(url), url)
  t.strictSame(await guard.addressesOf('localhost'), ['127.0.0.1', '::1'])
  t.ok(guard.allows('127.0.0.1') && guard.allows('8.8.8.8') && !guard.allows('10.0.0.1'))
  for (const url of [
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00::1]/',
    'http://0.0.0.0/'
  ])
    await t.rejects(guard.check(url), { message: /MILLRACE_ALLOW_PRIVATE_WEBHOOKS/ }, url)
})

t.test('a name server is asked for both families, and every answer is checked', async (t) => {
  const server = await startNameServer(t, {
    'both.example': ['8.8.8.8', '8.8.4.4', '2606:4700:0:0:0:0:0:1111'],
    'four.example': ['8.8.8.8'],
    'six.example': ['2606:4700:0:0:0:0:0:1111'],
    'private-six.example': ['8.8.8.8', 'fd00:ec2:0:0:0:0:0:254'],
    'mapped.example': ['8.8.8.8', '0:0:0:0:0:ffff:7f00:1'],
    'none.example': []
  })
  const guard = new UrlGuard({ allowPrivate: false, lookup: nameServerLookup([server]) })
  t.same((await guard.addressesOf('both.example')).toSorted(), ['2606:4700::1111', '8.8.4.4', '8.8.8.8'])
  t.same(await guard.addressesOf('four.example'), ['8.8.8.8'])
  t.same(await guard.addressesOf('six.example'), ['2606:4700::1111'])
  await t.rejects(guard.addressesOf('private-six.example'), { message: REFUSED })
  await t.rejects(guard.addressesOf('mapped.example'), { message: REFUSED })
  await t.rejects(guard.addressesOf('none.example'), { message: UNRESOLVED })
  await t.rejects(guard.addressesOf('unknown.example'), { message: UNRESOLVED })
})
