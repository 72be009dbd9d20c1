"""The C text that an exported model is put together from; ``@`` stands for the name it is given."""

from __future__ import annotations

HEAD = """\
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

enum { @_n_features = $n_features, @_n_classes = $n_classes };

typedef $real @_real;
"""

AS_FLOAT = """\
static double @_as_float(double value)
{
    volatile float rounded = (float)value; /* gcc 12 may drop a plain cast when it vectorises */
    return rounded;
}
"""

SCALED = """\
static void @_scale(const double *x, @_real *z)
{
    int j;
    for (j = 0; j < @_n_features; j++)
        z[j] = $scaled;
}
"""

SPARSE_VALUE = """\
/* a mixture of a few features */
static @_real @_value(const @_real *z, uint32_t view, uint32_t number)
{
    const uint32_t row = view * $n_values + number;
    uint32_t e;
    @_real total = 0;
    for (e = @_starts[row]; e < @_starts[row + 1]; e++)
        total += @_coefficients[e] * z[@_features[e]];
    return total;
}
"""

# a feature by itself keeps its missing values, in a mixture they count as 0
MISSING_VALUE = """\
/* a feature, or a mixture of a few in which missing ones count as 0 */
static @_real @_value(const @_real *z, uint32_t view, uint32_t number)
{
    const uint32_t row = view * $n_values + number;
    uint32_t e = @_starts[row];
    @_real total = 0;
    if (@_starts[row + 1] == e + 1)
        return @_coefficients[e] * z[@_features[e]];
    for (; e < @_starts[row + 1]; e++) {
        const @_real one = z[@_features[e]];
        if (one == one)
            total += @_coefficients[e] * one;
    }
    return total;
}
"""

DENSE_VALUE = """\
/* a mixture of all features */
static @_real @_value(const @_real *z, uint32_t view, uint32_t number)
{
    const @_real *row = @_coefficients + (size_t)(view * $n_values + number) * @_n_features;
    int j;
    @_real total = 0;
    for (j = 0; j < @_n_features; j++)
        total += row[j] * z[j];
    return total;
}
"""

GENERATED_VALUE = """\
/* Ten rounds of Philox-4x32 (Salmon et al. 2011). */
static void @_philox(uint32_t *counter)
{
    uint32_t key0 = $seed_low, key1 = $seed_high;
    int i;
    for (i = 0; i < 10; i++) {
        const uint64_t product0 = (uint64_t)0xD2511F53u * counter[0];
        const uint64_t product1 = (uint64_t)0xCD9E8D57u * counter[2];
        counter[0] = (uint32_t)(product1 >> 32) ^ counter[1] ^ key0;
        counter[1] = (uint32_t)product1;
        counter[2] = (uint32_t)(product0 >> 32) ^ counter[3] ^ key1;
        counter[3] = (uint32_t)product0;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

/* Natural logarithm of numerator / 2^33. */
static double @_log_fraction(int64_t numerator)
{
    int exponent = 0, term;
    double fraction, s, square, series = 0.0;
    while (numerator < 4294967296) {
        numerator *= 2;
        exponent++;
    }
    fraction = (double)numerator / 8589934592.0;
    s = (fraction - 1.0) / (fraction + 1.0);
    square = s * s;
    for (term = 17; term >= 0; term--)
        series = series * square + 1.0 / (2.0 * term + 1.0);
    return 2.0 * s * series - exponent * 0.6931471805599453;
}

static double @_polynomial(const double *c, double r)
{
    int i;
    double total = c[0];
    for (i = 1; i < 8; i++)
        total = total * r + c[i];
    return total;
}

/* Inverse normal distribution function (Wichura's AS 241) at (word + 1/2) / 2^32. */
static double @_normal(uint32_t word)
{
    static const double top_inside[8] = {
        2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
        45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
        133.14166789178437745, 3.387132872796366608};
    static const double bottom_inside[8] = {
        5226.495278852545925, 28729.085735721942674, 39307.89580009271061,
        21213.794301586595867, 5394.1960214247511077, 687.1870074920579083,
        42.313330701600911252, 1.0};
    static const double top_outside[8] = {
        7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
        1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055,
        4.6303378461565452959, 1.42343711074968357734};
    static const double bottom_outside[8] = {
        1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
        0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494,
        2.05319162663775882187, 1.0};
    const int64_t odd = 2 * (int64_t)word + 1;
    const double q = (double)(odd - 4294967296) / 8589934592.0;
    double r, value;
    if (fabs(q) <= 0.425) {
        r = 0.180625 - q * q;
        return q * @_polynomial(top_inside, r) / @_polynomial(bottom_inside, r);
    }
    r = sqrt(-@_log_fraction(q < 0 ? odd : 8589934592 - odd)) - 1.6;
    value = @_polynomial(top_outside, r) / @_polynomial(bottom_outside, r);
    return q < 0 ? -value : value;
}

/* a mixture of all features, its coefficients made from the seed */
static @_real @_value(const @_real *z, uint32_t view, uint32_t number)
{
    uint32_t words[4] = {0, 0, 0, 0};
    int j;
    @_real total = 0;
    for (j = 0; j < @_n_features; j++) {
        if (j % 4 == 0) {
            words[0] = (uint32_t)(j / 4);
            words[1] = @_rows[number];
            words[2] = view;
            words[3] = $stream;
            @_philox(words);
        }
        total += (@_real)(@_normal(words[j % 4]) * $scale) * z[j];
    }
    return total;
}
"""

STUMP_OUTPUT = """\
/* the output of a stump */
static double @_output(const @_real *z, uint32_t view, uint32_t i)
{
    const @_real value = $value;
    (void)view;
    return value > @_thresholds[i] ? @_high[i] : @_low[i];
}
"""

# numbers are cuts of splits and outputs of leaves; children stand side by side
TREE_OUTPUT = """\
/* the output of a tree */
static double @_output(const @_real *z, uint32_t view, uint32_t i)
{
    const uint32_t start = @_trees[i];
    uint32_t node = start;
    (void)view;
    while (@_left[node] != 0) {
        const @_real value = $value;
        node = start + @_left[node] + (@_as_float(value) > @_numbers[node] ? 1u : 0u);
    }
    return @_numbers[node];
}
"""

VALUES = """\
    @_real values[$n_values];
    uint32_t v;
    for (v = 0; v < $n_values; v++)
        values[v] = @_value(z, 0, v);
"""

# places: the value that a split compares, the number of a leaf
LEAF_SUMS = """\
/* every tree adds the entries of a leaf to the scores */
static void @_sum(const @_real *z, double *sums)
{
    uint32_t t, c, e;
    float totals[$n_sums];
$values    for (c = 0; c < $n_sums; c++)
        totals[c] = @_prior[c];
    for (t = 0; t < $n_trees; t++) {
        const uint32_t start = @_trees[t];
        uint32_t node = start, leaf;
        while (@_left[node] != 0)
            node = start + @_left[node] + ($compared[@_places[node]] > @_cuts[node] ? 1u : 0u);
        leaf = @_places[node];
        for (e = @_leaves[leaf]; e < @_leaves[leaf + 1]; e++)
            totals[@_entry_classes[e]] += @_entry_values[e];
    }
    for (c = 0; c < $n_sums; c++)
        sums[c] = totals[c];
}
"""

SUMS = """\
static void @_sum(const @_real *z, double *sums)
{
    uint32_t t, c;
    for (c = 0; c < $n_sums; c++) {
        double total = 0.0;
        for (t = 0; t < $n_rounds; t++)
            total += $term;
        sums[c] = total;
    }
}
"""

SHARED_SUMS = """\
static void @_sum(const @_real *z, double *sums)
{
    uint32_t t, c;
    for (c = 0; c < $n_sums; c++)
        sums[c] = 0.0;
    for (t = 0; t < $n_rounds; t++) {
        const double output = @_output(z, 0, t);
        for (c = 0; c < $n_sums; c++)
            sums[c] += @_votes[t * $n_sums + c] * output;
    }
}
"""

LANDMARKS = """\
/* exp(x) for x <= 0, by operations that are the same everywhere */
static double @_exponential(double x)
{
    static const double terms[12] = {
        1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0,
        1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0};
    double whole, f, y = terms[0];
    int i;
    x = x > -708.0 ? x : -708.0;
    whole = floor(x * 1.4426950408889634 + 0.5);
    f = x - whole * 0.6931471803691238;
    f = f - whole * 1.9082149292705877e-10;
    for (i = 1; i < 12; i++)
        y = y * f + terms[i];
    return ldexp(y, (int)whole);
}

/* closer to 0 than 3; a missing value is 0 */
static double @_bent(double x)
{
    const double t = x / 3.0;
    if (x != x)
        return 0.0;
    if (fabs(t) > 1e8)
        return x > 0.0 ? 3.0 : -3.0;
    return x / sqrt(1.0 + t * t);
}

/* adds the similarities to landmarks, times their coefficients */
static void @_add_landmarks(const @_real *z, double *sums)
{
    double bent[@_n_features], own[@_n_features], totals[@_n_classes], all[@_n_classes];
    uint32_t part, v, j, c;
    for (j = 0; j < @_n_features; j++)
        bent[j] = @_bent(z[j]);
    for (c = 0; c < @_n_classes; c++)
        all[c] = 0.0;
    for (part = 0; part < $n_parts; part++) {
        double norm = 0.0;
        for (j = 0; j < @_n_features; j++) {
            own[j] = @_feature_weights[part * @_n_features + j] * bent[j];
            norm += own[j] * own[j];
        }
        for (c = 0; c < @_n_classes; c++)
            totals[c] = 0.0;
        for (v = part * $n_landmarks; v < (part + 1) * $n_landmarks; v++) {
            const float *point = @_points + (size_t)v * @_n_features;
            const float *factors = @_factors + (size_t)v * @_n_classes;
            double product = 0.0, distance, similarity;
            for (j = 0; j < @_n_features; j++)
                product += point[j] * own[j];
            distance = norm + @_squares[v] - 2.0 * product;
            similarity = @_exponential(-@_widths[part] * (distance > 0.0 ? distance : 0.0));
            for (c = 0; c < @_n_classes; c++)
                totals[c] += factors[c] * similarity;
        }
        for (c = 0; c < @_n_classes; c++)
            all[c] += totals[c];
    }
    for (c = 0; c < @_n_classes; c++)
        sums[c] = @_as_float(sums[c] + @_as_float(all[c]));
}
"""

LINEAR = """\
/* adds the features times their coefficients; a missing value is 0 */
static void @_add_linear(const @_real *z, double *sums)
{
    double totals[@_n_classes];
    uint32_t j, c;
    for (c = 0; c < @_n_classes; c++)
        totals[c] = 0.0;
    for (j = 0; j < @_n_features; j++) {
        const double limit = @_limits[j];
        const double x = z[j] != z[j] ? 0.0 : z[j] > limit ? limit : z[j] < -limit ? -limit : z[j];
        if (x == 0.0)
            continue;
        for (c = 0; c < @_n_classes; c++)
            totals[c] += x * @_factors[(size_t)j * @_n_classes + c];
    }
    for (c = 0; c < @_n_classes; c++)
        sums[c] = @_as_float(sums[c] + @_as_float(totals[c] - @_linear_base[c]));
}
"""

SCORES = """\
static void @_score(const double *x, double *scores)
{
    @_real z[@_n_features];
    @_scale(x, z);
    @_sum(z, scores);
$more}
"""

HAMMING_SCORES = """\
static void @_score(const double *x, double *scores)
{
    @_real z[@_n_features];
    double sums[$n_sums];
    int r, i;
    @_scale(x, z);
    @_sum(z, sums);
    for (r = 0; r < @_n_classes; r++) {
        scores[r] = 0.0;
        for (i = 0; i < $n_sums; i++)
            scores[r] += @_code[(uint32_t)r * $n_sums + i] * ((sums[i] > 0.0) - (sums[i] < 0.0));
        scores[r] /= $n_sums;
    }
}
"""

LOSS_SCORES = """\
static void @_score(const double *x, double *scores)
{
    @_real z[@_n_features];
    double sums[$n_sums];
    int r, i;
    @_scale(x, z);
    @_sum(z, sums);
    for (r = 0; r < @_n_classes; r++) {
        const int8_t *code = @_code + (size_t)r * $n_sums;
        double largest = -code[0] * sums[0], total = 0.0;
        for (i = 1; i < $n_sums; i++)
            largest = fmax(largest, -code[i] * sums[i]);
        for (i = 0; i < $n_sums; i++)
            total += exp(-code[i] * sums[i] - largest);
        scores[r] = -(log(total) + largest);
    }
}
"""

TAIL = """\
int @(const double *x, double *scores)
{
    double own[@_n_classes], highest = -INFINITY;
    int r, best = 0;
    @_score(x, own);
    for (r = 0; r < @_n_classes; r++) {
        const double score = $score;
        if (score > highest) {
            highest = score;
            best = r;
        }
        if (scores != NULL)
            scores[r] = score;
    }
    return best;
}

int @_probabilities(const double *x, double *probabilities)
{
    const int best = @(x, probabilities);
    const double highest = probabilities[best];
    double total = 0.0;
    int r;
    for (r = 0; r < @_n_classes; r++) {
        probabilities[r] = exp($factor * (probabilities[r] - highest));
        total += probabilities[r];
    }
    for (r = 0; r < @_n_classes; r++)
        probabilities[r] /= total;
    return best;
}
"""
