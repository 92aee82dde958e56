import t from 'tap'
import { HOUSE, readSources } from './sources.ts'

/** Openings of a comment that stand for a noun instead of naming it, and so have to be read twice. */
const RIDDLE = /^(What|Of|Whoever|Whom|Whose|Who|So many)\b/
/** Stamps and turns of phrase that hide the quantity or the case, and citations of documents that are not in the repository. */
const STAMPS =
  /\bChosen\b|\bbetween two looks\b|\bnull without\b|\b(is|are) none\b|\bspec(ification)?(, | choices)|\bchoices, (section )?\d/
/** Names that gave way to standard terms, as declared in code: a reader had to look each of them up. */
const FORMER_NAMES = [
  ...['TouchLog', 'Answers', 'expressLane', 'Pace', 'LiveRanking', 'SecondChance', 'Memory', 'Peers'],
  ...['deploymentRemarks', 'Tenure', 'Tail', 'TailBlock', 'tailed', 'steadily', 'Deliveries', 'Amending'],
  ...['MintTurnover', 'Turnover', 'Progress', 'StorePart', 'RecordPart', 'LogPart', 'Soon', 'Finding'],
  ...['Touched', 'Missing', 'Loaded', 'letGo', 'Bell', 'patienceWith', 'Patience', 'KeptRun', 'StreamDoor'],
  ...['nextTurn', 'Turn', 'unlessAway', 'UnderWay', 'UNDER_WAY_MAX'],
  ...['TellingStretch', 'tellingOrder', 'tellOfDamage', 'ToldChange', 'stateTold', 'progressAsTold'],
  ...['KeptAnswer', 'KeptText', 'takeBack', 'untaken', 'WantedAccounts', 'wantedAccounts', 'poolsListedAnew'],
  ...['tellOf', 'tellOfHead', 'tellOfStanding', 'keptFor', 'keptMsOf', 'changesKeptMs', 'KEPT_SLOTS'],
  ...['KEPT_SLOTS_MIN', 'isKeptAsSent', 'News', 'Witness', 'SendWish', 'BundleWish', 'BlockAgain'],
  ...['ServiceParts', 'WebhookParts', 'RpcParts', 'AccountParts', 'TransactionParts']
]
const FORMER = new RegExp(
  `\\b(?:class|interface|type|function|const|as) (${FORMER_NAMES.join('|')})\\b(?!:)`,
  'g'
)

/** The comments of a source text in order, without their marks: block comments, and `//` lines joined while they touch. */
function commentsOf(text: string): string[] {
  const marks = /\/\*\*?\s([\s\S]*?)\*\/|((?:^[ \t]*\/\/.*\n?)+)|\S[ \t]+\/\/ (.*)$/gm
  return [...text.matchAll(marks)].map(([, block, lines, trailing]) =>
    (block ?? lines ?? trailing)!.replaceAll(/^[ \t]*(\*|\/\/) ?/gm, '').trim()
  )
}

/** The comments of a source text that break a rule of the house's language. Each paragraph of a comment is an opening. */
function riddlesOf(text: string): string[] {
  return commentsOf(text).filter(
    (comment) => STAMPS.test(comment) || comment.split(/\n\s*\n/).some((paragraph) => RIDDLE.test(paragraph))
  )
}

/** The names declared in a source text that gave way to others. */
const formerNamesOf = (text: string): string[] => [...text.matchAll(FORMER)].map(([, name]) => name!)

t.test(
  'a comment that opens with a relative clause, or hides the quantity or the case, is found',
  async (t) => {
    for (const comment of [
      '/** What a block holds. */',
      '  // Of a key.',
      'call() // Whoever asks.',
      '/**\n * A page.\n *\n * Who reads it waits.\n */',
      '/** Bytes of a page. Chosen: a screen has as many. */',
      '/** Milliseconds between two looks. */',
      '// null without a key',
      '/** The key; undefined where there is none. */',
      '/** Maximum channels of a connection (spec, Limits). */'
    ])
      t.same(riddlesOf(`a()\n${comment}\nb()\n`).length, 1, comment)
  }
)

t.test(
  'a comment that opens with a verb or a noun, or gives the reason of a choice, is not found',
  async (t) => {
    for (const comment of [
      '/** Returns the newest block. */',
      '// Offsets of a page: what is before the first is\n// What follows in a sentence.',
      '/** Poll interval in milliseconds: a tenth of a slot. */',
      "open('http://of.example')",
      "glob('src/**/*.ts') // every source"
    ])
      t.same(riddlesOf(`a()\n${comment}\nb()\n`), [], comment)
  }
)

for (const folder of HOUSE) {
  t.test(`comments in ${folder} open with a verb or a noun, and limits give their reason`, async (t) => {
    const found = readSources([folder], ['.ts', '.js'])
      .filter(({ path }) => path !== 'test/house/language.test.ts')
      .flatMap(({ path, text }) => riddlesOf(text).map((comment) => `${path}: ${comment}`))
    t.same(found, [])
  })
}

t.test('no name that gave way to a standard term is declared again', async (t) => {
  t.same(['const nextTurn = 1', 'export class Bell {', 'import { a as Soon }'].flatMap(formerNamesOf), [
    'nextTurn',
    'Bell',
    'Soon'
  ])
  const found = readSources(['src', 'actors', 'machines', 'storage']).flatMap(({ path, text }) =>
    formerNamesOf(text).map((name) => `${path}: ${name}`)
  )
  t.same(found, [])
})
