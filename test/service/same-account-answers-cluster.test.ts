import t from 'tap'
import { checkSameAnswers } from '../accounts/two-gateways.ts'

t.test(
  '1,000 pairs of answers that show facts of accounts have the same bytes and tag at two gateways',
  (t) => checkSameAnswers(t, 1_000)
)
