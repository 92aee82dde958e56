import fc from 'fast-check'
import t from 'tap'
import { IndexPlace, INDEX_HOLDERS, type IndexState } from '../../src/data/index-place.ts'
import { randomRuns } from '../random-runs.ts'

interface Announced {
  roles: string[]
  products: string[] | null
  index: IndexState
  startedAtMs: number
  isDraining: boolean
}

const GATEWAY = { roles: ['gateway'], products: null, isDraining: false }

/** Gateways that hear each other at once. Each decides when `pass` moves the time, once a second. */
class Places {
  readonly announced = new Map<string, Announced>()
  readonly places = new Map<string, { readonly place: IndexPlace; isLoaded: boolean }>()
  isHearing = true
  nowMs = 0

  /** Starts a gateway that hears the others. It is loaded once `load` says so. */
  start(id: string, { startedAtMs = this.nowMs, isShared = true, mayHold = true } = {}): IndexPlace {
    const { announced } = this
    const state: { current: IndexState } = { current: 'none' }
    const member: { place: IndexPlace; isLoaded: boolean } = {
      isLoaded: false,
      place: new IndexPlace({
        fleet: this.#seenBy(id),
        clock: { now: () => this.nowMs },
        ...{ state, isShared, mayHold },
        isLoaded: () => member.isLoaded
      })
    }
    this.places.set(id, member)
    announced.set(id, {
      ...GATEWAY,
      startedAtMs,
      get index() {
        return state.current
      },
      set index(_) {
        throw new TypeError('a gateway announces its own state')
      }
    })
    member.place.update()
    return member.place
  }

  #seenBy(id: string) {
    const isHearing = (): boolean => this.isHearing
    const { announced } = this
    return {
      id,
      get isHearing() {
        return isHearing()
      },
      get processes() {
        return [...announced].map(([each, announcement]) => ({
          id: each,
          isThis: each === id,
          announcement
        }))
      }
    }
  }

  load(...ids: readonly string[]): void {
    for (const id of ids) this.places.get(id)!.isLoaded = true
    this.pass(0)
  }

  end(id: string): void {
    this.announced.delete(id)
    this.places.delete(id)
  }

  pass(seconds: number): void {
    for (let second = 0; second <= seconds; second++) {
      if (second > 0) this.nowMs += 1_000
      for (const { place } of this.places.values()) place.update()
    }
  }

  get holders(): string[] {
    return [...this.places].filter(([, { place }]) => place.isHeld === true).map(([id]) => id)
  }
}

t.test('the only process of a store holds the index, and announces nothing', async (t) => {
  const places = new Places()
  const place = places.start('a', { isShared: false })
  t.equal(place.isHeld, true)
  t.equal(places.announced.get('a')!.index, 'none')
  t.equal(place.isAnsweredElsewhere, false)
})

t.test('the two gateways that have run longest hold the index, from their start on', async (t) => {
  const places = new Places()
  for (const [at, id] of ['d', 'c', 'b', 'a'].entries()) places.start(id, { startedAtMs: at })
  t.strictSame(places.holders, ['d', 'c'])
  t.strictSame(
    [...places.announced.values()].map(({ index }) => index),
    ['loading', 'loading', 'free', 'free']
  )
  t.equal(places.places.get('a')!.place.isAnsweredElsewhere, false, 'no gateway has loaded it')
  places.load('c')
  t.equal(places.places.get('a')!.place.isAnsweredElsewhere, true)
  t.equal(places.places.get('a')!.place.rank, null)
  t.equal(places.places.get('c')!.place.rank, 0, 'the other one is still loading')
  t.equal(places.places.get('c')!.place.isAnsweredElsewhere, false)
  places.load('d')
  t.equal(places.places.get('d')!.place.rank, 0)
  t.equal(places.places.get('c')!.place.rank, 1)
})

t.test('a gateway that hears nobody holds the index itself', async (t) => {
  const places = new Places()
  places.isHearing = false
  for (const id of ['a', 'b', 'c']) places.start(id)
  t.strictSame(places.holders, ['a', 'b', 'c'])
})

t.test('after the end of a holder the next gateway holds the index within 3 s, and not before', async (t) => {
  const places = new Places()
  for (const [at, id] of ['a', 'b', 'c', 'd'].entries()) places.start(id, { startedAtMs: at })
  places.load('a', 'b')
  const gone = places.announced.get('a')!
  places.announced.delete('a')
  places.pass(2)
  places.announced.set('a', gone)
  places.pass(1)
  places.announced.delete('a')
  places.pass(2)
  t.strictSame(places.holders, ['a', 'b'], 'a silence of two seconds is no end')
  places.pass(1)
  places.end('a')
  t.strictSame(places.holders, ['b', 'c'])
  t.equal(places.places.get('b')!.place.rank, 0, 'the other holder answers at once')
})

t.test('while no announcements are heard, nothing is decided', async (t) => {
  const places = new Places()
  for (const [at, id] of ['a', 'b', 'c'].entries()) places.start(id, { startedAtMs: at })
  places.load('a', 'b')
  places.isHearing = false
  for (const id of ['a', 'b']) places.announced.delete(id)
  places.pass(30)
  t.strictSame(places.holders, ['a', 'b'])
  places.isHearing = true
  places.pass(3)
  t.strictSame(places.holders, ['a', 'b', 'c'])
})

t.test('a gateway too many drops the index once the two before it have it loaded', async (t) => {
  const places = new Places()
  places.start('c', { startedAtMs: 3 })
  places.load('c')
  for (const [at, id] of ['a', 'b'].entries()) places.start(id, { startedAtMs: at })
  t.strictSame(places.holders.toSorted(), ['a', 'b', 'c'])
  places.pass(60)
  t.strictSame(places.holders.toSorted(), ['a', 'b', 'c'], 'the others are loading')
  places.load('a')
  places.pass(60)
  t.strictSame(places.holders.toSorted(), ['a', 'b', 'c'], 'one of them is')
  places.load('b')
  places.pass(9)
  t.strictSame(places.holders.toSorted(), ['a', 'b', 'c'])
  places.pass(1)
  t.strictSame(places.holders.toSorted(), ['a', 'b'])
  t.equal(places.announced.get('c')!.index, 'free')
})

t.test('gateways that stop, and those of a version that answers no questions, are no holders', async (t) => {
  const places = new Places()
  places.announced.set('old', { ...GATEWAY, index: 'none', startedAtMs: 0 })
  places.announced.set('leaving', { ...GATEWAY, index: 'loaded', startedAtMs: 1, isDraining: true })
  for (const [at, id] of ['a', 'b', 'c'].entries()) places.start(id, { startedAtMs: 2 + at })
  t.strictSame(places.holders, ['a', 'b'])
  t.equal(places.places.get('c')!.place.isAnsweredElsewhere, false, 'one that stops is not asked')
})

t.test('a gateway that may not hold the index asks, whoever else there is', async (t) => {
  const places = new Places()
  const place = places.start('small', { startedAtMs: 0, mayHold: false })
  t.equal(place.isHeld, false)
  t.equal(places.announced.get('small')!.index, 'none')
  for (const [at, id] of ['a', 'b', 'c'].entries()) places.start(id, { startedAtMs: 1 + at })
  t.strictSame(places.holders, ['a', 'b'])
  places.load('a', 'b')
  places.pass(1)
  t.equal(place.isAnsweredElsewhere, true)
  for (const id of ['a', 'b', 'c']) places.end(id)
  places.pass(60)
  t.equal(place.isHeld, false)
})

t.test(
  'a holder is asked by gateways without a loaded index that serve data, and by nobody else',
  async (t) => {
    const places = new Places()
    for (const [at, id] of ['a', 'b'].entries()) places.start(id, { startedAtMs: at })
    const { place } = places.places.get('a')!
    places.pass(1)
    t.equal(place.isAsked, true, 'the other holder is loading')
    places.load('a', 'b')
    places.pass(1)
    t.equal(place.isAsked, false)
    places.announced.set('delivery', { ...GATEWAY, roles: ['delivery'], index: 'none', startedAtMs: 2 })
    places.announced.set('rpc', { ...GATEWAY, products: ['rpc'], index: 'none', startedAtMs: 2 })
    places.pass(1)
    t.equal(place.isAsked, false)
    for (const products of [null, ['rpc', 'data']]) {
      places.announced.set('small', { ...GATEWAY, products, index: 'none', startedAtMs: 2 })
      places.pass(1)
      t.equal(place.isAsked, true)
      places.announced.delete('small')
      places.pass(1)
      t.equal(place.isAsked, false)
    }
    places.isHearing = false
    places.pass(1)
    t.equal(place.isAsked, true, 'one that is not heard may ask')
  }
)

t.test('a listener hears each decision, until it unsubscribes', async (t) => {
  const places = new Places()
  for (const [at, id] of ['a', 'b', 'c'].entries()) places.start(id, { startedAtMs: at })
  const { place } = places.places.get('c')!
  const heard: (boolean | null)[] = []
  const unsubscribe = place.onChange(() => heard.push(place.isHeld))
  places.end('a')
  places.pass(10)
  t.strictSame(heard, [true])
  unsubscribe()
  places.load('b', 'c')
  places.start('z', { startedAtMs: -1 })
  places.load('z')
  places.pass(60)
  t.strictSame(heard, [true])
})

t.test('however gateways start and end, two of them hold the index in the end', async (t) => {
  const anyEvents = fc.array(
    fc.record({ isEnd: fc.boolean(), which: fc.nat({ max: 9 }), seconds: fc.nat({ max: 12 }) }),
    { minLength: 1, maxLength: 30 }
  )
  await fc.assert(
    fc.asyncProperty(anyEvents, async (events) => {
      const places = new Places()
      for (const [at, { isEnd, which, seconds }] of events.entries()) {
        const ids = [...places.places.keys()]
        if (isEnd && ids.length > 0) places.end(ids[which % ids.length]!)
        else places.start(`g${at}`)
        places.pass(seconds)
        places.load(...places.holders)
      }
      for (let round = 0; round < 3; round++) {
        places.pass(20)
        places.load(...places.holders)
      }
      const expected = [...places.announced]
        .toSorted(([x, a], [y, b]) => a.startedAtMs - b.startedAtMs || (x < y ? -1 : 1))
        .slice(0, INDEX_HOLDERS)
        .map(([id]) => id)
      t.strictSame(places.holders.toSorted(), expected.toSorted())
    }),
    randomRuns(200, 9)
  )
})
