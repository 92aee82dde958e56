import t from 'tap'
import { partitionLines } from '../../src/store/commands/partition-lines.ts'

const large = (...partitions: readonly { table: string; bytes: number; key: string | null }[]) => ({
  free_bytes: null,
  large_partitions: { known_from_bytes: 1e9, partitions }
})

t.test('the command warns of large partitions, and says what the nodes cannot know', async (t) => {
  const [warning, ...lines] = partitionLines(
    large(
      { table: 'documents', bytes: 2e9, key: 'submission:a/1' },
      { table: 'log', bytes: 1.5e9, key: null }
    )
  )
  t.match(warning, /^warning: partitions above 100 MB .*\(the nodes report partitions from 1\.0 GB on\):$/)
  t.strictSame(lines, ['  documents: 2.0 GB, key submission:a/1', '  log: 1.5 GB'])
  t.strictSame(partitionLines(large()), [
    'no partition above 100 MB is known: the nodes report partitions from 1.0 GB on'
  ])
})

t.test('nodes that report nothing are named, and an embedded store has no line', async (t) => {
  t.strictSame(partitionLines({ free_bytes: null, large_partitions: null }), [
    'the nodes do not report the sizes of their partitions'
  ])
  t.strictSame(partitionLines({ free_bytes: 5, large_partitions: null }), [])
})
