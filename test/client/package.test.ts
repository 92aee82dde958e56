import { existsSync, readFileSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { SourceMap } from 'node:module'
import { gzipSync } from 'node:zlib'
import { nodeResolve } from '@rollup/plugin-node-resolve'
import { build } from 'esbuild'
import { rollup } from '@rollup/wasm-node'
import { ownDirectory } from '../own-directory.ts'
import t from 'tap'
import { WSOL } from '../../src/market/cash.ts'
import { ROOT } from '../house/sources.ts'
import { notRun } from '../servers/not-run.ts'
import { startBusyLocalnetProcess } from '../service/localnet-process.ts'
import { ADMIN_KEY } from '../service/service-process.ts'
import { VECTOR } from '../webhooks/webhooks-page.ts'
import { installPackedClient } from './packed-client.ts'
import { READ, READER } from './reader-program.ts'

/** Supported releases besides the one that runs the tests. */
const NODE_VERSIONS = ['20.20.2', '22.23.3', '24.21.0']

const TYPED = `
import WebSocket from 'ws'
import { connect, StreamError, type ConnectOptions, type TradeEvent } from 'millrace/client'

const options: ConnectOptions = { url: 'http://127.0.0.1:8900', key: 'k', WebSocket }
const trades: TradeEvent[] = []
for await (const item of connect(options).subscribe(['trades:A', 'launches'])) {
  // @ts-expect-error a gap has no data
  item.data
  if (item.kind === 'trade') {
    trades.push(item)
    item.data.is_buy satisfies 0 | 1 | null
    item.data.fees[0]!.amount_raw satisfies string
    // @ts-expect-error a number is not a string
    item.data.price satisfies string
  }
  if (item.kind === 'launch') item.data.symbol satisfies string
  // @ts-expect-error no curve comes on these channels
  if (item.kind === 'curve') break
}
for await (const item of connect(options).subscribe(['revenue']))
  if (item.kind === 'ledger') item.data.counterparty_confidence satisfies 'exact' | 'inferred' | 'none'
new StreamError('code', 'message').code satisfies string
`

const TYPED_REST = `
import { ApiError, createMillrace, VENUES, type Trade, type Venue } from 'millrace/client'

const millrace = createMillrace({ url: 'http://127.0.0.1:8900', key: 'k' })
const trades: Trade[] = []
for await (const trade of millrace.tokens.trades('A', { venue: 'pumpswap', min_usd: 5, from: new Date(0) })) {
  trades.push(trade)
  trade.venue satisfies Venue
  trade.price satisfies number | null
}
const page = await millrace.market.launches({ limit: 5 })
page.nextCursor satisfies string | null
page.data[0]!.mint satisfies string
VENUES[0] satisfies Venue
// @ts-expect-error there is no such venue
millrace.tokens.trades('A', { venue: 'nasdaq' })
// @ts-expect-error there is no such parameter
millrace.tokens.trades('A', { venues: 'pumpswap' })
// @ts-expect-error a webhook needs channels
millrace.webhooks.create({ url: 'https://example.com' })
const { id, secret } = await millrace.webhooks.create({ url: 'https://example.com', channels: ['launches'] })
id satisfies number
secret satisfies string
try {
  const { signature } = await millrace.tx.send(new Uint8Array(), { skip_preflight: false })
  for await (const { state } of millrace.tx.follow(signature)) state satisfies string | null
} catch (error) {
  if (error instanceof ApiError && error.code === 'preflight_failed') error.problem!.logs satisfies readonly string[] | undefined
  // @ts-expect-error there is no such code
  if (error instanceof ApiError && error.code === 'no_such_code') throw error
}
const slot: number = await millrace.rpc.call<number>('getSlot')
for await (const item of millrace.stream.subscribe(['launches'])) if (item.kind === 'launch') item.data.symbol satisfies string
const batch = await millrace.webhooks.verify(new Headers(), '{}', secret)
batch.batch_id satisfies string
new URL(millrace.rpc.url)
slot satisfies number
`

const TYPED_WEBHOOKS = `
import { createServer } from 'node:http'
import { verify, WebhookVerificationError } from 'millrace/webhooks'

createServer(async (request) => {
  const batch = await verify(request.headers, Buffer.from('{}'), 'whsec_AA==', { toleranceSeconds: 60 })
  batch.batch_id satisfies string
  for (const event of batch.events)
    if (event.channel === 'test') event.data.message satisfies string
    else event.data.ts_ms satisfies number
  await verify(new Headers(), '{}', 'whsec_AA==')
  // @ts-expect-error a parsed body cannot be verified
  await verify(request.headers, {}, 'whsec_AA==')
})
new WebhookVerificationError('invalid_secret', 'message').code satisfies string
`

/** Verifies the test vector of the page, and refuses it with another body. */
const VERIFIER = `
import { verify, WebhookVerificationError } from 'millrace/webhooks'

const vector = JSON.parse(process.argv[2])
const now = { nowMs: Number(vector['X-MR-Timestamp']) }
const { webhook_id } = await verify(vector, vector.body, vector.secret, now)
const refused = await verify(vector, vector.body + ' ', vector.secret, now).catch((error) => error)
console.log(JSON.stringify([webhook_id, refused instanceof WebhookVerificationError, refused.code]))
`

const project = await installPackedClient(t)
// Before the first test: the folder is removed when all tests that were started have ended.
const nodes = await installNodes().catch(() => null)
const typescript = join(ROOT, 'node_modules/typescript/bin/tsc')

t.test('the tarball holds the built client alone, and depends on no other package', async (t) => {
  const manifest = JSON.parse(readFileSync(join(project.client, 'package.json'), 'utf8')) as object
  t.notHas(manifest, { dependencies: {} })
  t.strictSame(
    readdirSync(join(project.folder, 'node_modules')).filter((name) => !name.startsWith('.')),
    ['millrace']
  )
  t.match(readFileSync(join(project.client, 'README.md'), 'utf8'), /^# millrace\/client\n/)
  for (const file of project.files)
    t.match(file, /^(package\.json|README\.md|dist\/client\/[\w-]+\.(js|js\.map|d\.ts))$/)
  for (const file of project.files.filter((name) => /\.(d\.ts|js)$/.test(name)))
    t.notMatch(
      readFileSync(join(project.client, file), 'utf8'),
      /from '(?!\.\/[\w-]+\.js')/,
      `imports of ${file}`
    )
})

t.test('a place in the built client leads back to its source', async (t) => {
  for (const file of project.files.filter((name) => name.endsWith('.js'))) {
    const map = JSON.parse(readFileSync(join(project.client, `${file}.map`), 'utf8')) as {
      readonly sourcesContent: readonly string[]
    }
    t.equal(map.sourcesContent.length, 1, file)
    t.match(
      readFileSync(join(project.client, file), 'utf8'),
      `sourceMappingURL=${file.split('/').at(-1)}.map`
    )
  }
  const script = readFileSync(join(project.client, 'dist/client/stream-client.js'), 'utf8').split('\n')
  const line = script.findIndex((each) => each.includes('export function connect'))
  const map = new SourceMap(
    JSON.parse(readFileSync(join(project.client, 'dist/client/stream-client.js.map'), 'utf8')) as never
  )
  const entry = map.findEntry(line, 0) as { readonly originalLine: number }
  t.match(
    readFileSync(join(ROOT, 'src/client/stream-client.ts'), 'utf8').split('\n')[entry.originalLine],
    /function connect/
  )
})

t.test('a TypeScript project gets the types under each module resolution', async (t) => {
  symlinkSync(join(ROOT, 'node_modules/ws'), join(project.folder, 'node_modules/ws'))
  for (const name of ['ws', 'node']) {
    project.write('node_modules/@types/.keep', '')
    symlinkSync(
      join(ROOT, `node_modules/@types/${name}`),
      join(project.folder, `node_modules/@types/${name}`)
    )
  }
  symlinkSync(join(ROOT, 'node_modules/undici-types'), join(project.folder, 'node_modules/undici-types'))
  project.write('typed.ts', TYPED)
  project.write('typed-webhooks.ts', TYPED_WEBHOOKS)
  project.write('typed-rest.ts', TYPED_REST)
  for (const [module, moduleResolution] of [
    ['nodenext', 'nodenext'],
    ['node20', 'node16'],
    ['esnext', 'bundler']
  ] as const) {
    const args = ['--noEmit', '--strict', '--target', 'es2022', '--types', 'node']
    const said = project.run(process.execPath, [
      ...[typescript, ...args, '--module', module, '--moduleResolution', moduleResolution],
      'typed.ts',
      'typed-rest.ts',
      'typed-webhooks.ts'
    ])
    await t.resolves(said.catch(told), moduleResolution)
  }
})

t.test('a page that uses the stream alone stays small, because the rest is left out', async (t) => {
  const sizes: number[] = []
  for (const name of ['connect', 'createMillrace']) {
    project.write(
      'page.js',
      `import { ${name} } from 'millrace/client'\nwindow.made = ${name}({ url: '/', key: 'k' })\n`
    )
    const { outputFiles } = await build({
      entryPoints: [join(project.folder, 'page.js')],
      bundle: true,
      minify: true,
      format: 'esm',
      write: false,
      logLevel: 'error'
    })
    const [{ contents, text }] = outputFiles as [(typeof outputFiles)[0]]
    t.equal(/\/v1\/launches/.test(text), name === 'createMillrace')
    sizes.push(gzipSync(contents).length)
  }
  const [stream, whole] = sizes as [number, number]
  t.comment(`the stream alone: ${stream} bytes in gzip; everything: ${whole}`)
  t.ok(stream < 4_096, `the stream alone has ${stream} bytes`)
  t.ok(whole < 12 * 1_024, `everything has ${whole} bytes`)
})

t.test('bundlers take the client and the verifier', async (t) => {
  project.write(
    'bundled.js',
    `import { connect } from 'millrace/client'\nimport { verify } from 'millrace/webhooks'\nconsole.log(typeof connect, typeof verify)\n`
  )
  const outfile = join(project.folder, 'esbuild.js')
  await build({
    entryPoints: [join(project.folder, 'bundled.js')],
    bundle: true,
    format: 'esm',
    outfile,
    logLevel: 'error'
  })
  t.equal(await project.run(process.execPath, [outfile]), 'function function\n', 'esbuild')
  const bundle = await rollup({ input: join(project.folder, 'bundled.js'), plugins: [nodeResolve()] })
  await bundle.write({ file: join(project.folder, 'rollup.js'), format: 'es' })
  t.equal(await project.run(process.execPath, ['rollup.js']), 'function function\n', 'rollup')
})

const RELEASES = `${NODE_VERSIONS.join(', ')} and ${process.versions.node}`
const VERIFIES = `the verifier of webhooks works on Node ${RELEASES}`
const ON_NODE = `the client reads the stream on Node ${RELEASES}`
const NO_NODES = 'other releases of Node cannot be installed with npm for this machine'
if (nodes === null) {
  notRun(t, VERIFIES, NO_NODES)
  notRun(t, ON_NODE, NO_NODES)
} else {
  t.test(VERIFIES, async (t) => {
    project.write('verifier.js', VERIFIER)
    for (const [version, program] of [...nodes, [process.versions.node, process.execPath]] as const) {
      const printed = await project.run(program, ['verifier.js', JSON.stringify(VECTOR)]).catch(told)
      t.strictSame(JSON.parse(printed), [42, true, 'signature_mismatch'], version)
    }
  })

  t.test(ON_NODE, async (t) => {
    const service = await startBusyLocalnetProcess(t, ownDirectory(t), ['--localnet-slot-ms', '50'])
    project.write('reader.js', READER)
    for (const [version, program] of [...nodes, [process.versions.node, process.execPath]] as const) {
      const printed = await project.run(program, ['reader.js', service.url, ADMIN_KEY, WSOL]).catch(told)
      t.strictSame(JSON.parse(printed), {
        version: `v${version}`,
        ...READ
      })
    }
    const [, oldest] = nodes[0]!
    project.write(
      'bare.js',
      `import { connect } from 'millrace/client'\nconnect({ url: 'http://127.0.0.1:1', key: 'k' })\n`
    )
    const message = await project.run(oldest, ['bare.js']).then(
      () => 'it started',
      (error: { readonly stderr: string }) => error.stderr
    )
    t.match(message, /TypeError: this platform has no WebSocket \(Node before 22\): install the package ws/)
  })
}

/** Installs the platform packages of the releases and returns their paths. */
async function installNodes(): Promise<(readonly [string, string])[]> {
  const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const packages = NODE_VERSIONS.map((version) => `node-${version}@npm:node-${platform}@${version}`)
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', 'nodes']
  await project.run('npm', [...args, ...packages])
  return NODE_VERSIONS.map((version) => {
    const program = join(project.folder, `nodes/node_modules/node-${version}/bin/node`)
    if (!existsSync(program)) throw new Error(`${program} is not there`)
    return [version, program] as const
  })
}

/** Throws an error with everything that a program printed before it failed. */
function told(error: { readonly stdout: string; readonly stderr: string }): never {
  throw new Error(`${error.stdout}\n${error.stderr}`)
}
