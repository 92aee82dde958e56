import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { z } from 'zod'
import { ROOT, readSources } from './sources.ts'

const RESULTS = join(ROOT, 'loadtest/results')
const PAGE = readFileSync(join(ROOT, 'src/docs/performance.md'), 'utf8')
const [FIGURES = '', PLACES = ''] = PAGE.split('## Where each figure was measured')

/** The head of a result, as `writeResult` writes it. */
const head = z.object({
  benchmark: z.string(),
  at: z.iso.date(),
  commit: z.string().regex(/^[0-9a-f]{7,40}( with changes)?$/),
  machine: z.object({
    cpu: z.string().regex(/Xeon|EPYC/, 'is a processor that the page does not name'),
    cores: z.int().min(1),
    memory_gib: z.int().min(1)
  }),
  node: z.string().regex(/^v\d+\.\d+\.\d+$/)
})

const names = readdirSync(RESULTS).map((file) => file.replace(/\.json$/, ''))
const headOf = (name: string): z.infer<typeof head> =>
  head.parse(JSON.parse(readFileSync(join(RESULTS, `${name}.json`), 'utf8')))

t.test('every result of a load test has its machine and its commit', async (t) => {
  t.ok(names.length > 20)
  for (const name of names) t.doesNotThrow(() => headOf(name), name)
})

t.test('the page on performance says of which machine, commit and day each result is', async (t) => {
  const stated = [...PLACES.matchAll(/^\| `([\w-]+)` +\| (\w+) +\| (.+?) +\| (\S+) +\|$/gm)].map(
    ([, name, processor, commit, at]) => `${name} ${processor} ${commit} ${at}`
  )
  const measured = names.map((name) => {
    const { machine, commit, at } = headOf(name)
    return `${name} ${/Xeon|EPYC/.exec(machine.cpu)![0]} ${commit} ${at}`
  })
  t.same(stated.toSorted(), measured.toSorted())
})

t.test(
  'each result and each program that the page names has a result, or is in the repository',
  async (t) => {
    const named = [...FIGURES.matchAll(/`([\w-]+)\.(ts|json)`/g)].map(([, name, kind]) => ({ name, kind }))
    t.ok(named.length > 20)
    for (const { name, kind } of named) {
      const hasResult = names.some((result) => result === name || result.startsWith(`${name}-`))
      const isProgram = kind === 'ts' && existsSync(join(ROOT, 'loadtest', `${name}.ts`))
      t.ok(hasResult || isProgram, `${name}.${kind}`)
    }
  }
)

t.test('each load test that saves a result prints a figure when it is measured', async (t) => {
  const programs = readSources(['loadtest']).filter(({ text }) => /\bwriteResult\)?\(/.test(text))
  t.ok(programs.length > 15)
  const silent = programs.filter(
    ({ path, text }) =>
      path !== 'loadtest/result.ts' &&
      !text.includes('reported(') &&
      !/console\.error\([\s\S]{0,60}JSON\.stringify/.test(text)
  )
  t.same(
    silent.map(({ path }) => path),
    []
  )
})
