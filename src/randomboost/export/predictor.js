// What a model needs in JavaScript: `load(data)` returns its functions. All arithmetic is that of
// the package: double precision, or single precision (Math.fround) where the model has it.
function load(data) {
  const KINDS = {
    int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array,
    float32: Float32Array, float64: Float64Array,
  };

  // "kind:base64", or a pair of distinct values and the place of each
  const unpack = (packed) => {
    if (packed === null) return null;
    if (Array.isArray(packed)) {
      const [values, places] = packed.map(unpack);
      return values.constructor.from(places, (place) => values[place]);
    }
    const [kind, text] = packed.split(":");
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new KINDS[kind](bytes.buffer);
  };
  const starts = (sizes) => {
    const found = new Int32Array(sizes.length + 1);
    sizes.forEach((size, place) => { found[place + 1] = found[place] + size; });
    return found;
  };

  const { classes, columns, nFeatures, nViews, nValues } = data;
  const round = data.single ? Math.fround : (number) => number;
  const fill = unpack(data.fill);
  const scaling = data.scaling && data.scaling.map(unpack);
  const codes = columns.map(({ codes }) => codes && new Map(codes));
  const takesMissing = data.missing || fill !== null;

  // -- a row as the numbers that the model works on

  const isList = (row) => Array.isArray(row) || ArrayBuffer.isView(row);
  const cell = (row, place) => {
    if (isList(row)) return row[place];
    const { name } = columns[place];
    if (!(name in row)) throw new TypeError(`the row lacks ${name}: pass null if it is missing`);
    return row[name];
  };
  const asNumber = (value, name) => {
    const gap = value === null || value === undefined || value === "";
    const number = gap ? NaN : Number(value);
    const wrong = Number.isNaN(number) ? !gap && !Number.isNaN(value) : !Number.isFinite(number);
    if (wrong) throw new TypeError(`${name} is ${value}: pass a finite number, or null`);
    return number;
  };
  const features = (row) => {
    if (isList(row) && row.length !== columns.length) {
      throw new TypeError(`the row has ${row.length} values, the model takes ${columns.length}`);
    }
    const x = new Float64Array(nFeatures);
    columns.forEach(({ name, at }, place) => {
      const value = cell(row, place);
      const numbers = codes[place] ? codes[place].get(value) : [asNumber(value, name)];
      at.forEach((feature, i) => { x[feature] = numbers === undefined ? NaN : numbers[i]; });
      if (!takesMissing && at.some((feature) => Number.isNaN(x[feature]))) {
        throw new TypeError(`${name} is missing: the model takes no missing values`);
      }
    });
    return x;
  };
  const scaled = (x) => {
    for (let j = 0; j < nFeatures; j++) {
      if (fill && Number.isNaN(x[j])) x[j] = fill[j];
      x[j] = round(x[j]);
      if (scaling) x[j] = round((x[j] / scaling[0][j] - scaling[1][j]) / scaling[2][j]);
      if (nViews > 1 && Number.isNaN(x[j])) x[j] = 0;
    }
    return x;
  };

  // -- values: features, or mixtures of them in which missing ones count as 0

  let mixtures = data.rows && {
    starts: starts(unpack(data.rows.sizes)),
    features: unpack(data.rows.features),
    coefficients: unpack(data.rows.coefficients),
  };
  const value = (z, view, number) => {
    if (!mixtures) return z[number];
    const begin = mixtures.starts[view * nValues + number];
    const end = mixtures.starts[view * nValues + number + 1];
    if (end === begin + 1) return round(mixtures.coefficients[begin] * z[mixtures.features[begin]]);
    let total = 0;
    for (let e = begin; e < end; e++) {
      const one = z[mixtures.features[e]];
      if (one === one) total = round(total + round(mixtures.coefficients[e] * one));
    }
    return total;
  };

  // Gaussian mixtures are made from the seed when they are first needed: ten rounds of
  // Philox-4x32 (Salmon et al. 2011), and Wichura's AS 241, the inverse normal distribution.
  const highWord = (a, b) => {
    const low = (a & 0xffff) * (b & 0xffff);
    const first = (a >>> 16) * (b & 0xffff) + Math.floor(low / 0x10000);
    const second = (a & 0xffff) * (b >>> 16) + (first & 0xffff);
    return (a >>> 16) * (b >>> 16) + Math.floor(first / 0x10000) + Math.floor(second / 0x10000);
  };
  const philox = (counter, seed) => {
    let [key0, key1] = seed;
    let [a, b, c, d] = counter;
    for (let i = 0; i < 10; i++) {
      const high0 = highWord(0xd2511f53, a), high1 = highWord(0xcd9e8d57, c);
      const low0 = Math.imul(0xd2511f53, a), low1 = Math.imul(0xcd9e8d57, c);
      [a, b, c, d] = [(high1 ^ b ^ key0) >>> 0, low1 >>> 0, (high0 ^ d ^ key1) >>> 0, low0 >>> 0];
      key0 = (key0 + 0x9e3779b9) >>> 0;
      key1 = (key1 + 0xbb67ae85) >>> 0;
    }
    return [a, b, c, d];
  };
  const logFraction = (numerator) => { // of numerator / 2^33
    let exponent = 0, series = 0;
    while (numerator < 4294967296) {
      numerator *= 2;
      exponent++;
    }
    const fraction = numerator / 8589934592;
    const s = (fraction - 1) / (fraction + 1);
    for (let term = 17; term >= 0; term--) series = series * (s * s) + 1 / (2 * term + 1);
    return 2 * s * series - exponent * 0.6931471805599453;
  };
  const polynomial = (terms, r) => terms.reduce((total, term) => total * r + term);
  const INSIDE = [[
    2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
    13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608,
  ], [
    5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
    5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1,
  ]];
  const OUTSIDE = [[
    7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
    1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959,
    1.42343711074968357734,
  ], [
    1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
    0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187,
    1,
  ]];
  const normal = (word) => {
    const odd = 2 * word + 1;
    const q = (odd - 4294967296) / 8589934592;
    if (Math.abs(q) <= 0.425) {
      const r = 0.180625 - q * q;
      return q * polynomial(INSIDE[0], r) / polynomial(INSIDE[1], r);
    }
    const r = Math.sqrt(-logFraction(q < 0 ? odd : 8589934592 - odd)) - 1.6;
    const size = polynomial(OUTSIDE[0], r) / polynomial(OUTSIDE[1], r);
    return q < 0 ? -size : size;
  };
  const makeMixtures = ({ seed, stream, scale, rows }) => {
    const numbers = unpack(rows);
    const count = nViews * nValues;
    const made = {
      starts: Int32Array.from({ length: count + 1 }, (_, row) => row * nFeatures),
      features: Int32Array.from({ length: count * nFeatures }, (_, e) => e % nFeatures),
      coefficients: new Float64Array(count * nFeatures),
    };
    for (let row = 0; row < count; row++) {
      const view = Math.floor(row / nValues);
      let words;
      for (let j = 0; j < nFeatures; j++) {
        if (j % 4 === 0) words = philox([j / 4, numbers[row % nValues], view, stream], seed);
        made.coefficients[row * nFeatures + j] = round(normal(words[j % 4]) * scale);
      }
    }
    return made;
  };

  // -- weak classifiers and the sums of what they give

  const stumps = data.stumps && {
    columns: unpack(data.stumps.columns),
    thresholds: unpack(data.stumps.thresholds),
    low: unpack(data.stumps.low),
    high: unpack(data.stumps.high),
  };
  const plant = (packed) => {
    const left = unpack(packed.left); // 0 for a leaf; the right child is next to the left one
    const columns = unpack(packed.columns), cuts = unpack(packed.cuts); // of splits only
    const places = new Int32Array(left.length), limits = new Float64Array(left.length);
    let split = 0, leaf = 0;
    left.forEach((child, node) => {
      places[node] = child ? columns[split] : leaf++;
      limits[node] = child ? cuts[split++] : 0;
    });
    return { starts: starts(unpack(packed.sizes)), left, places, limits };
  };
  const trees = data.trees && plant(data.trees);
  const outputs = data.trees && unpack(data.trees.outputs);
  const leaves = data.leaves && {
    starts: starts(unpack(data.leaves.sizes)),
    classes: unpack(data.leaves.classes),
    steps: unpack(data.leaves.steps),
    units: unpack(data.leaves.units),
  };
  const votes = unpack(data.votes), code = unpack(data.code), prior = unpack(data.prior);

  const leafOf = (tree, compared) => {
    const start = trees.starts[tree];
    let node = start;
    while (trees.left[node]) {
      const right = compared(trees.places[node]) > trees.limits[node];
      node = start + trees.left[node] + (right ? 1 : 0);
    }
    return trees.places[node];
  };
  const output = (z, view, member) => {
    if (trees) return outputs[leafOf(member, (place) => Math.fround(value(z, view, place)))];
    const above = value(z, view, stumps.columns[member]) > stumps.thresholds[member];
    return (above ? stumps.high : stumps.low)[member];
  };
  const leafSums = (z) => {
    const sums = Float32Array.from(prior);
    const values = mixtures ? Float64Array.from({ length: nValues }, (_, v) => value(z, 0, v)) : z;
    for (let t = 0; t < leaves.units.length; t++) {
      const leaf = leafOf(t, (place) => values[place]);
      for (let e = leaves.starts[leaf]; e < leaves.starts[leaf + 1]; e++) {
        sums[leaves.classes[e]] += Math.fround(leaves.steps[e] * leaves.units[t]);
      }
    }
    return Float64Array.from(sums);
  };
  const landmarks = data.landmarks.map((part) => ({
    width: part.width,
    points: unpack(part.points),
    weights: unpack(part.weights),
    squares: unpack(part.squares),
    coefficients: unpack(part.coefficients),
  }));
  const TERMS = [39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2, 1, 1];
  const halves = new Float64Array(1023).fill(1); // powers of 1/2
  for (let k = 1; k < halves.length; k++) halves[k] = 0.5 * halves[k - 1];
  const exponential = (given) => { // of numbers up to 0
    const x = Math.max(given, -708);
    const whole = Math.floor(x * 1.4426950408889634 + 0.5);
    const f = x - whole * 0.6931471803691238 - whole * 1.9082149292705877e-10;
    return TERMS.reduce((total, term) => total * f + 1 / term, 0) * halves[-whole];
  };
  const bent = (x) => { // closer to 0 than 3; a missing value is 0
    if (Number.isNaN(x)) return 0;
    return Math.abs(x / 3) > 1e8 ? 3 * Math.sign(x) : x / Math.sqrt(1 + (x / 3) * (x / 3));
  };
  const landmarkSums = (part, z) => { // of similarities to landmarks, times their coefficients
    const { width, points, weights, squares, coefficients } = part;
    const own = z.map((x, j) => weights[j] * bent(x));
    const norm = own.reduce((total, one) => total + one * one, 0);
    const sums = new Float64Array(classes.length);
    squares.forEach((square, v) => {
      let product = 0;
      for (let j = 0; j < nFeatures; j++) product += points[v * nFeatures + j] * own[j];
      const similarity = exponential(-width * Math.max(norm + square - 2 * product, 0));
      for (let c = 0; c < sums.length; c++) {
        sums[c] += coefficients[v * sums.length + c] * similarity;
      }
    });
    return sums;
  };
  const linear = data.linear && {
    coefficients: unpack(data.linear.coefficients),
    limits: unpack(data.linear.limits),
    base: unpack(data.linear.base),
  };
  const linearSums = (z) => { // of features times their coefficients
    const { coefficients, limits, base } = linear;
    const sums = new Float64Array(classes.length);
    z.forEach((value, j) => {
      const x = Number.isNaN(value) ? 0 : Math.max(-limits[j], Math.min(limits[j], value));
      if (x === 0) return;
      for (let c = 0; c < sums.length; c++) sums[c] += x * coefficients[j * sums.length + c];
    });
    return sums.map((sum, c) => sum - base[c]);
  };
  const voteSums = (z) => {
    const perRound = votes.length / data.nRounds;
    const sums = new Float64Array(Math.max(perRound, nViews));
    const shared = data.nMembers === data.nRounds && nViews === 1;
    for (let t = 0; t < data.nRounds; t++) {
      const one = shared ? output(z, 0, t) : 0;
      for (let c = 0; c < sums.length; c++) {
        if (nViews > 1) sums[c] += votes[t] * output(z, c, t);
        else sums[c] += votes[t * perRound + c] * (shared ? one : output(z, 0, t * perRound + c));
      }
    }
    return sums;
  };
  const decoded = (sums) => classes.map((_, r) => {
    const row = code.subarray(r * sums.length, (r + 1) * sums.length);
    if (data.decoding === "hamming") {
      return sums.reduce((total, sum, i) => total + row[i] * Math.sign(sum), 0) / sums.length;
    }
    const losses = sums.map((sum, i) => -row[i] * sum);
    const largest = Math.max(...losses);
    return -(Math.log(losses.reduce((total, one) => total + Math.exp(one - largest), 0)) + largest);
  });

  // -- what users call

  const scores = (row) => {
    const z = scaled(features(row));
    if (data.gaussian && !mixtures) mixtures = makeMixtures(data.gaussian);
    const sums = leaves ? leafSums(z) : voteSums(z);
    if (landmarks.length || linear) {
      const totals = linear ? linearSums(z) : new Float64Array(classes.length);
      for (const part of landmarks) landmarkSums(part, z).forEach((one, c) => { totals[c] += one; });
      totals.forEach((one, c) => { sums[c] = Math.fround(sums[c] + Math.fround(one)); });
    }
    return Float64Array.from(code ? decoded(sums) : sums, round);
  };
  const best = (own) => own.reduce((top, score, r) => (score > own[top] ? r : top), 0);
  const predict = (row) => classes[best(scores(row))];
  const predictProba = (row) => {
    const own = scores(row);
    const highest = own[best(own)];
    const powers = own.map((score) => Math.exp(data.probabilityScale * (score - highest)));
    const total = powers.reduce((sum, power) => sum + power, 0);
    return powers.map((power) => power / total);
  };
  const featureNames = columns.map(({ name }) => name);
  const categories = Object.fromEntries(columns.flatMap(({ name }, place) =>
    codes[place] ? [[name, [...codes[place].keys()]]] : []));
  return { scores, predictProba, predict, classes, featureNames, categories };
}
