import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SETTING_NAMES, SETTINGS } from '../../src/configuration.ts'
import { variableOf } from '../../src/kernel/config/config.ts'
import { processMetrics } from '../products/process-metrics.ts'
import { ROOT, readSources } from './sources.ts'

const sources = readSources()
const own = sources.filter(({ path }) => !path.startsWith('test/') && !path.includes('/test/'))

t.test('the top level holds the names that the plan of the house gives it', async (t) => {
  const listed = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
  const top = new Set(listed.map((path) => path.split('/')[0]!).filter((name) => !name.startsWith('.')))
  const plan =
    'Dockerfile README.md actors docker-compose.yml loadtest machines package-lock.json package.json src storage test tsconfig.json'
  t.same(
    [...top].filter((name) => !plan.split(' ').includes(name)),
    []
  )
})

t.test('no file of the house is past 450 lines', async (t) => {
  const long = own.filter(({ text }) => text.split('\n').length > 450).map(({ path }) => path)
  t.same(long, [])
})

t.test('no file has a name that says nothing', async (t) => {
  t.same(
    sources.filter(({ path }) => /(utils?|helpers?|common|misc)\b/i.test(path)).map(({ path }) => path),
    []
  )
})

t.test('exports are named', async (t) => {
  t.same(
    own.filter(({ text }) => /^export default/m.test(text)).map(({ path }) => path),
    []
  )
})

t.test('the page on operations has every metric', async (t) => {
  const page = readFileSync(join(ROOT, 'src/docs/operations.md'), 'utf8')
  const { registry } = processMetrics()
  const names = registry.getMetricsAsArray().map(({ name }) => name)
  t.ok(names.length > 10)
  for (const name of names.filter((name) => name.startsWith('millrace_'))) t.match(page, `\`${name}\``)
})

t.test('every invariant is cited by code that keeps it and by a test that holds it', async (t) => {
  const stated = readFileSync(join(ROOT, 'src/docs/INVARIANTS.md'), 'utf8').match(/^\d+\. \*\*/gm) ?? []
  t.ok(stated.length > 0 && stated.length <= 10)
  const isTest = (path: string): boolean => path.startsWith('test/') || path.includes('/test/')
  for (let number = 1; number <= stated.length; number++) {
    const citation = new RegExp(`INVARIANTS ${number}\\b`)
    const citing = sources.filter(
      ({ path, text }) => path !== 'test/house/shape.test.ts' && citation.test(text)
    )
    t.ok(
      citing.some(({ path }) => !isTest(path)),
      `${number} is cited in code`
    )
    t.ok(
      citing.some(({ path }) => isTest(path)),
      `${number} is cited in a test`
    )
  }
})

t.test('the table of settings has every variable with its default', async (t) => {
  const page = readFileSync(join(ROOT, 'src/docs/settings.md'), 'utf8')
  for (const name of SETTING_NAMES) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${variableOf(name)}\` `))
    t.ok(row, `${variableOf(name)} has a row`)
    const { fallback } = SETTINGS[name]
    if (fallback !== '') t.match(row ?? '', `\`${fallback}\``, `${variableOf(name)} shows its default`)
  }
})

t.test(
  'every link of the README and of the pages leads to a file, and to a heading that it has',
  async (t) => {
    const pages = ['README.md', ...readdirSync(join(ROOT, 'src/docs')).map((name) => `src/docs/${name}`)]
    const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
    const anchors = (path: string): string[] =>
      [...text(path).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
        heading!.toLowerCase().replaceAll(' ', '-')
      )
    const links = pages
      .filter((page) => page.endsWith('.md'))
      .flatMap((page) =>
        [...text(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => ({ page, target: target! }))
      )
      .filter(({ target }) => !target.startsWith('http'))
    t.ok(links.length > 20)
    for (const { page, target } of links) {
      const [file, anchor] = target.split('#')
      const path = file === '' ? page : join(page, '..', file!)
      t.ok(existsSync(join(ROOT, path)), `${page} → ${target}`)
      if (anchor !== undefined) t.ok(anchors(path).includes(anchor), `${page} → ${target}`)
    }
  }
)
