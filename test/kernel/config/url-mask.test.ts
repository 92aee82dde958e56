import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { configMask, configOf, SETTING_NAMES, SETTINGS } from '../../../src/configuration.ts'
import { variableOf } from '../../../src/kernel/config/config.ts'
import { hasUrls } from '../../../src/kernel/config/setting.ts'
import { maskedUrl, secretsMask } from '../../../src/kernel/config/url-mask.ts'
import { ROOT } from '../../house/sources.ts'

const PATH_KEY = '0123456789abcdef0123'
const QUERY_KEY = 'fedcba9876543210fedc'
const PASSWORD = 'pass"word\\1'

/** Returns a URL with a secret in each part, which a setting accepts. */
function urlOf(name: (typeof SETTING_NAMES)[number]): string {
  const scheme = ['https', 'wss', 'rediss'].find(
    (each) => SETTINGS[name].schema.safeParse(`${each}://example.org`).success
  )
  return `${scheme}://${name}:${encodeURIComponent(PASSWORD)}@${name.toLowerCase()}.example/v1/${PATH_KEY}?api-key=${QUERY_KEY}`
}

const URL_SETTINGS = SETTING_NAMES.filter((name) => hasUrls(SETTINGS[name].schema))

t.test('a URL of any setting is masked in any text, whole and in its parts', async (t) => {
  t.ok(URL_SETTINGS.length > 5)
  for (const name of URL_SETTINGS) {
    const url = urlOf(name)
    const reading = configOf({}, { [variableOf(name)]: url })
    if (reading.kind !== 'config') throw new Error(reading.problems.join())
    const mask = configMask(reading.config)
    t.equal(mask(`cannot reach ${url} (refused)`), `cannot reach ${maskedUrl(url)} (refused)`, name)
    const { href, host, pathname, search } = new URL(url)
    for (const text of [href, host + pathname + search, pathname + search, PATH_KEY, QUERY_KEY, PASSWORD])
      for (const line of [mask(`no answer from ${text}!`), mask(JSON.stringify({ err: text }))])
        t.notMatch(line, /0123|fedc|word/, `${name}: ${line}`)
  }
})

t.test('words of other lines are not masked', async (t) => {
  const url = 'https://engine.example/api/v1/bundles'
  const mask = secretsMask([url], { partLengthMin: 16 })
  const line = 'bundles go to the api of /v1/rpc at engine.example'
  t.equal(mask(line), line)
  t.equal(mask(`POST ${url} failed`), 'POST https://engine.example/******** failed')
  t.equal(secretsMask([], { partLengthMin: 1 })(line), line)
})

t.test('secrets of other settings are masked too', async (t) => {
  const reading = configOf({}, { MILLRACE_YELLOWSTONE_TOKEN: 'token-of-the-operator' })
  if (reading.kind !== 'config') throw new Error(reading.problems.join())
  t.equal(configMask(reading.config)('x-token: token-of-the-operator'), 'x-token: ********')
})

t.test('a line of the log has no secret of a URL, whatever error is logged', async (t) => {
  const url = urlOf('rpcUrl')
  const script = `
    import { createLogger } from ${JSON.stringify(join(ROOT, 'src/kernel/telemetry/logger.ts'))}
    import { configMask } from ${JSON.stringify(join(ROOT, 'src/configuration.ts'))}
    const mask = configMask({ rpcUrl: [${JSON.stringify(url)}] })
    const logger = createLogger({ logLevel: 'info', logFormat: process.argv[1] }, mask)
    const cause = Object.assign(new Error('connect ' + ${JSON.stringify(url)}), { path: '/v1/${PATH_KEY}' })
    logger.error({ err: new Error('the node is away', { cause }) }, 'at ${QUERY_KEY}')`
  for (const format of ['json', 'pretty']) {
    const args = ['--input-type=module', '-e', script, '--', format]
    const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    t.match(stderr, /the node is away/, format)
    t.notMatch(stderr, /0123|fedc|word/, format)
  }
})
