package sim

import "math"

// The functions below give the same bits on every processor, which those of
// package math do not: some processors have their own, and the compiler may
// fuse a product with a sum, which rounds once instead of twice. A conversion
// to float64 forbids that.

const (
	ln2Hi = 6.93147180369123816490e-01 // ln 2 in two parts: a multiple of the first is exact
	ln2Lo = 1.90821492927058770002e-10
)

// ln is the natural logarithm of a normal x > 0, to about one unit in the last place.
func ln(x float64) float64 {
	m, e := math.Frexp(x) // x = m * 2^e, exactly
	if m < math.Sqrt2/2 {
		m, e = m*2, e-1
	}
	s := (m - 1) / (m + 1) // ln m = 2 atanh s, |s| < 0.172
	s2 := float64(s * s)
	sum := 0.0
	for k := 23; k > 1; k -= 2 {
		sum = float64(s2 * (1/float64(k) + sum))
	}
	n := float64(e)
	return float64(n*ln2Hi) + (float64(2*s) + (float64(float64(2*s)*sum) + float64(n*ln2Lo)))
}

// exp is e^x, to about one unit in the last place.
func exp(x float64) float64 {
	switch {
	case x > 709:
		return math.Inf(1)
	case x < -745:
		return 0
	}
	n := math.Round(x / math.Ln2)
	r := (x - float64(n*ln2Hi)) - float64(n*ln2Lo) // |r| < 0.35
	sum := 1.0
	for k := 17; k > 0; k-- {
		sum = 1 + float64(float64(r*sum)/float64(k))
	}
	return math.Ldexp(sum, int(n))
}

// normalQuantile is the standard normal's quantile at p in (0, 1), by Wichura's
// algorithm AS 241, to about 1 part in 10^16.
func normalQuantile(p float64) float64 {
	q := p - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return float64(q * ratio(r, &centre))
	}
	r := p
	if q > 0 {
		r = 1 - p
	}
	r = math.Sqrt(-ln(r))
	z := 0.0
	if r <= 5 {
		z = ratio(r-1.6, &middle)
	} else {
		z = ratio(r-5, &tail)
	}
	if q < 0 {
		return -z
	}
	return z
}

// ratio is the rational function with the coefficients c at r.
func ratio(r float64, c *[2][8]float64) float64 {
	num, den := 0.0, 0.0
	for i := 7; i >= 0; i-- {
		num = float64(num*r) + c[0][i]
		den = float64(den*r) + c[1][i]
	}
	return num / den
}

// Coefficients of AS 241, numerator then denominator, from the constant up.
var (
	centre = [2][8]float64{
		{3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
			4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3},
		{1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
			2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3},
	}
	middle = [2][8]float64{
		{1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
			1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
		{1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
			1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9},
	}
	tail = [2][8]float64{
		{6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
			2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
		{1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
			7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15},
	}
)
