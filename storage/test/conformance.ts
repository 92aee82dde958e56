import type { Test } from 'tap'
import { testActivity } from './conformance/activity.ts'
import { testAgreement } from './conformance/agreement.ts'
import { testAmendments } from './conformance/amendments.ts'
import { testBlocks } from './conformance/blocks.ts'
import { testCandleEdits } from './conformance/candle-edits.ts'
import { testCandles } from './conformance/candles.ts'
import { testCoverage } from './conformance/coverage.ts'
import { testDocumentAgreement } from './conformance/document-agreement.ts'
import { testDocumentExpiry } from './conformance/document-expiry.ts'
import { testDocumentProcesses } from './conformance/document-processes.ts'
import { testDocuments } from './conformance/documents.ts'
import { testGrowingDocuments } from './conformance/growing-documents.ts'
import { testHistories } from './conformance/histories.ts'
import { testDurability } from './conformance/durability.ts'
import { testGroups } from './conformance/groups.ts'
import { testLaunches } from './conformance/launches.ts'
import { testLog } from './conformance/log.ts'
import { testPairs } from './conformance/pairs.ts'
import { testRegistry } from './conformance/registry.ts'
import { testRetention } from './conformance/retention.ts'
import { testRows } from './conformance/rows.ts'
import { testUsage } from './conformance/usage.ts'
import type { OpenForTest } from './under-test.ts'

/** Promises of the storage port that every adapter keeps. */
export function storageConformance(t: Test, open: OpenForTest): void {
  // First: a server's estimates count rows of emptied tables for a while.
  t.test('usage', (t) => testUsage(t, open))
  t.test('blocks', (t) => testBlocks(t, open))
  t.test('groups of blocks', (t) => testGroups(t, open))
  t.test('trades and pool events', (t) => testRows(t, open))
  t.test('the log of the stream', (t) => testLog(t, open))
  t.test('candles', (t) => testCandles(t, open))
  t.test('launches', (t) => testLaunches(t, open))
  t.test('pairs and prices', (t) => testPairs(t, open))
  t.test('activity', (t) => testActivity(t, open))
  t.test('tokens, pools, curves and totals', (t) => testRegistry(t, open))
  t.test('retention', (t) => testRetention(t, open))
  t.test('genesis and gaps', (t) => testCoverage(t, open))
  t.test('candles that are put and removed', (t) => testCandleEdits(t, open))
  t.test('amendments and kept blocks', (t) => testAmendments(t, open))
  t.test('durability', (t) => testDurability(t, open))
  t.test('random blocks agree with plain lists on every query', (t) => testAgreement(t, open))
}

/** Promises of the storage port that the store of an archive keeps, in which wallets refer to trades. */
export function archiveConformance(t: Test, open: OpenForTest): void {
  t.test('groups of blocks', (t) => testGroups(t, open))
  t.test('trades and pool events', (t) => testRows(t, open))
  t.test('candles that are put and removed', (t) => testCandleEdits(t, open))
  t.test('amendments and kept blocks', (t) => testAmendments(t, open))
}

/**
 * Promises of the document port that every adapter keeps. `runs` is the number of random runs that are compared with a plain
 * list.
 */
export function documentConformance(t: Test, open: OpenForTest, runs: number): void {
  t.test('documents', (t) => testDocuments(t, open))
  t.test('documents that expire', (t) => testDocumentExpiry(t, open))
  t.test('documents of several processes', (t) => testDocumentProcesses(t, open))
  t.test('documents at random', (t) => testDocumentAgreement(t, open, runs))
  t.test('documents of growing kinds', (t) => testGrowingDocuments(t, open, runs))
  t.test('histories', (t) => testHistories(t, open, runs))
}
