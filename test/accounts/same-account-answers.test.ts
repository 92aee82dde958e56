import t from 'tap'
import { checkSameAnswers, compared } from './two-gateways.ts'

const PAIRS = 150

t.test('every answer that shows facts of accounts has the same bytes and tag at two gateways', (t) =>
  checkSameAnswers(t, PAIRS)
)

t.test('gateways that share no readings give different answers', async (t) => {
  const { differing } = await compared(t, { pairs: PAIRS, isShared: false })
  t.ok(differing.length > 20, `${differing.length} of ${PAIRS} pairs differ`)
})
